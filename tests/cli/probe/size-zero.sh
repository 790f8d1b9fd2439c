# No file to read.
weir probe . --file-size 0
