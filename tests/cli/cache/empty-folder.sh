mkdir empty
weir cache drop empty --json
