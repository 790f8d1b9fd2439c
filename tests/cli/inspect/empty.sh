mkdir d d/a
weir inspect d
