# One change at a time, the best first; capacity; the same twice.
set -- --sample-bytes 100KiB --samples 6400 --step-ms 100 --storage hdd --cores 4
weir plan "$@" --cpu-ms 2 >one
weir plan "$@" --cpu-ms 2 >two
cmp one two
cat one
