weir mount --list
