mkdir set
weir bench set --size 12q
