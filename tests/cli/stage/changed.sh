# A data set that changed is another one: what was staged is not used, and goes.
weir gen caltech101 set -n 20 -c 2 -q >/dev/null
mkdir fast
weir stage set fast:50MiB --json | grep '"staged"'
first=$(find set -name '*.jpg' | sort | head -n 1)
last=$(find set -name '*.jpg' | sort | tail -n 1)
cp "$last" new
mv new "$first"
weir bench set --cache fast:50MiB -r 2 -b 16 --no-limits --stages read --json |
    grep '"misses"'
weir stage set fast:50MiB --json | grep '"staged"\|"already_there"'
[ "$(find fast/weir-cache-* -name map | wc -l)" = 1 ]

# the same for shards, when one was touched
weir convert set rec --to tfrecord -q >/dev/null
weir stage rec fast:50MiB --json | grep '"staged"\|"already_there"'
touch -d '2020-01-01 00:00' rec/*.tfrecord
weir stage rec fast:50MiB --json | grep '"staged"\|"already_there"'
weir stage rec fast:50MiB --json | grep '"staged"\|"already_there"'
