# Not a number.
weir plan --cpu-ms nan
