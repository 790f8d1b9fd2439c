# The life of the first batches as lanes.
weir plan --sample-bytes 100KiB --samples 640 --step-ms 100 --storage ssd \
    --threads 2 --cores 2 --cpu-ms 4 --life 3 --no-what-if --target 0
