weir xylophone
