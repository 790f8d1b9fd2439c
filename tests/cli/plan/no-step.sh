# Nothing is invented: the step is missing.
weir plan --sample-bytes 1MiB --storage ssd --cores 2
