# Each kind: the summary says what was made, and weir reads it again.
weir gen caltech101 in -n 60 -c 4 -q > /dev/null
for to in tfrecord tar tensor npy; do
    weir convert in "$to" --to "$to" --shard-size 300KiB --no-index-cache
    weir inspect "$to" --no-index-cache | grep -q 'samples *60 in'
    test "$(wc -l < "$to/classes.txt")" -eq 4
    test -n "$(ls "$to"/in-00000-of-*)"
done
weir convert in jpeg --to jpeg
diff -r in jpeg -x classes.txt -x .weir-convert -x .weir-gen
weir convert in small --to jpeg --max-side 100 --quality 80
weir inspect small | grep -q 'samples *60 in'
test -z "$(find . -name '.*part*' -o -name '.tmp*' -o -name '.bad*')"
