mkdir a b
weir mount a b
