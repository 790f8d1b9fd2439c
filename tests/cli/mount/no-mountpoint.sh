mkdir a
weir mount --profile hdd a
