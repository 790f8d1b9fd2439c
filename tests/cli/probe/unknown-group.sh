# A group that is not there.
weir probe . --only seq,fast
