# Arrays: any number of threads gives the same bytes, also after a kill; a full
# disk ends the run, and options of other targets are refused.
weir gen caltech101 in -n 120 -c 3 -q > /dev/null
weir convert in one --to npz --size 32x32 --shard-size 100KiB -t 1 -q > /dev/null
for ms in 5 20 40 60; do
    weir convert in t --to npz --size 32x32 --shard-size 100KiB -q \
        > /dev/null 2>&1 &
    pid=$!
    sleep "0.$(printf %03d "$ms")"
    kill -KILL "$pid" 2> /dev/null || true
    wait "$pid" 2> /dev/null || true
    rm -rf t
done
weir convert in t --to npz --size 32x32 --shard-size 100KiB -t 3 -q > /dev/null
diff -r one t
weir inspect t --verify | grep -E '^  (samples|shape)|broken'
weir convert t again --to npz --deflate --fields image -q > /dev/null
weir inspect again | grep -E '^  (samples|shape)'
code=0
weir convert in fault:write-enospc@3:bad --to npz -q 2> err.txt || code=$?
test "$code" -ne 0
grep -q "No space" err.txt
for words in '--to tar --fields image' '--to npy --deflate'; do
    code=0
    # shellcheck disable=SC2086
    weir convert in no $words || code=$?
    test "$code" -eq 2
done
