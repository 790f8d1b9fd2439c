# More data than any disk has: refused before anything is made.
weir study s --images 1000000000 --only fig5 --quiet
