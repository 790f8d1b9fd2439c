# A sample that there is no descriptor for is waited for, not left out; with
# less than it can work with, the limit is named and nothing is made.
weir gen -q caltech101 photos --samples 200 --classes 20 >made.txt
(
    # shellcheck disable=SC3045
    ulimit -n 16
    weir convert -q photos shards --to tfrecord --threads 16 --shard-size 100KiB
    weir convert -q shards tree --to jpeg --threads 16
) >>made.txt
find tree -name '*.jpg' | wc -l
# shellcheck disable=SC3045
ulimit -n 5
weir convert photos none --to tar || echo "exit $?"
ls
