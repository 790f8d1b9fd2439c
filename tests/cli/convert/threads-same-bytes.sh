# The same bytes with any number of threads, and shuffled by the seed alone.
weir gen caltech101 in -n 40 -c 4 -q > /dev/null
for t in 1 2 5; do
    weir convert in "r$t" --to tfrecord --shard-size 100KiB --order shuffle \
        --seed 7 -t "$t" > /dev/null
    weir convert in "s$t" --to tar --max-side 64 -t "$t" > /dev/null
done
diff -r r1 r2 && diff -r r1 r5 && diff -r s1 s2 && diff -r s1 s5
weir convert in other --to tfrecord --shard-size 100KiB --order shuffle \
    --seed 8 > /dev/null
if diff -rq r1 other > /dev/null; then exit 9; fi
