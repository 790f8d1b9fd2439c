# Bad samples are named with their file, counted and left out.
weir gen caltech101 in -n 30 -c 3 -q > /dev/null
file=$(find in -name '*.jpg' | sort | sed -n 4p)
echo broken > "$file"
: > "$(find in -name '*.jpg' | sort | sed -n 9p)"
weir convert in t --to tensor --json | grep -E '"(samples|bad_count)"'
weir convert in r --to tfrecord
