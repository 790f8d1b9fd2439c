# Killed at odd moments and run again: the same bytes as without.
# in a shell of its own: exec, so that the kill meets weir itself
convert() {
    exec weir convert in "$1" --to tfrecord --shard-size 200KiB --max-side 200
}
weir gen caltech101 in -n 300 -c 4 -q > /dev/null
(convert whole) > /dev/null
for ms in 20 50 80 100 150 200 300 500; do
    convert t > /dev/null 2>&1 &
    pid=$!
    sleep "0.$(printf %03d "$ms")"
    kill -KILL "$pid" 2> /dev/null || true
    code=0
    wait "$pid" 2> /dev/null || code=$?
    test "$code" -eq 137 || test "$code" -eq 0
    if [ -e t ]; then # it was faster
        diff -r whole t
        rm -r t
    fi
done
(convert t) > /dev/null
diff -r whole t
test ! -e .t.part
