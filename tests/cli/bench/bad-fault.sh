mkdir set
weir bench fault:nonsense:set
