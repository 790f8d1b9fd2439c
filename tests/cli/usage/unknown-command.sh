weir cahce
