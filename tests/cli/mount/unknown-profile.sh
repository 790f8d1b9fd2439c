mkdir a b
weir mount -p floppy a b
