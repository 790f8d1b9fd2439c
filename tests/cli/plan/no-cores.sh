# Nothing is invented: the cores are missing.
weir plan --step-ms 10 --storage ssd --sample-bytes 1MiB
