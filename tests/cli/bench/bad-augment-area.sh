mkdir set
weir bench set --crop random --crop-area 0.5
