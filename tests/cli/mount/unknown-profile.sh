mkdir a b
weir mount --profile floppy a b
