# Without a command: the overview on stderr, nothing on stdout.
weir
