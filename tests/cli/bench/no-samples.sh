mkdir empty
weir bench empty
