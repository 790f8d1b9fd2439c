mkdir a
weir mount -p hdd a
