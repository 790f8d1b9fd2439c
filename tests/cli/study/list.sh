# The figures that there are.
weir study --list
