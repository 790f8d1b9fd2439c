# No file to read.
weir probe . --size 0
