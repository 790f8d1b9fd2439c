# Nothing is invented: the data is missing.
weir plan --step-ms 10 --storage ssd --cores 2
