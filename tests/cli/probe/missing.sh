# A path that is not there.
weir probe nowhere --quick
