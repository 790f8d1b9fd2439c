# More threads than descriptors: no file is called broken for that.
weir gen -q caltech101 photos --samples 200 --classes 20 >made.txt
weir convert -q photos shards --to tar --shard-size 20KiB >>made.txt
# shellcheck disable=SC3045
ulimit -n 16
weir inspect photos --threads 64 | tail -n 1
weir inspect shards --threads 64 --verify | tail -n 1
