# Time does not run backwards.
weir plan --cpu-ms -1
