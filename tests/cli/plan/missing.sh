# An input that is not there.
weir plan nowhere
