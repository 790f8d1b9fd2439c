# Killed at odd moments and run again: the same bytes as without.
weir gen caltech101 in -n 300 -c 4 -q > /dev/null
weir convert in whole --to tfrecord --shard-size 200K --max-side 200 > /dev/null
for ms in 0.02 0.05 0.08 0.1 0.15 0.2 0.3 0.5; do
    timeout -s KILL "$ms" weir convert in t --to tfrecord --shard-size 200K \
        --max-side 200 > /dev/null 2>&1 || test "$?" -eq 137
done
weir convert in t --to tfrecord --shard-size 200K --max-side 200 --force \
    > /dev/null
diff -r whole t
test ! -e .t.part
