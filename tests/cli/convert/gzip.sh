# Shards packed by gzip are read, in sequence and in any order.
weir gen caltech101 in -n 40 -c 3 -q > /dev/null
for to in tfrecord tar; do
    weir convert in "$to" --to "$to" --shard-size 200KiB > /dev/null
    mkdir "z-$to"
    for f in "$to"/in-*; do gzip -c "$f" > "z-$to/$(basename "$f").gz"; done
    cp "$to/classes.txt" "z-$to/"
    weir convert "z-$to" "back-$to" --to jpeg --no-index-cache > /dev/null
    diff -r in "back-$to" -x classes.txt -x .weir-convert -x .weir-gen
    weir convert "z-$to" "mix-$to" --to npy --order shuffle --shard-size 0 \
        --no-index-cache | grep -q '40 samples in 1 shard'
done
