# What does not fit is said, and is no failure; a larger budget takes the rest.
# What comes first in the order is kept; of what is read at the same time,
# what arrives first: hence one read after the other here.
weir gen caltech101 set -n 100 -c 2 -q >/dev/null
mkdir fast
weir stage set fast:500KiB -t 1 -d 1
weir bench set --cache fast:500KiB -r 2 -b 8 --batches 3 --no-limits --stages read \
    --json -p 0 | grep '"misses"' | sort -u
weir stage set fast:5MiB
