# Nothing is invented: the step is missing.
weir plan --sample-bytes 1M --storage ssd --cores 2
