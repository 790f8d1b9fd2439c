# What was staged is found from the first epoch on: nothing is read from the
# data set, and what is delivered is the same. Decoded samples beside encoded.
weir gen caltech101 set -n 60 -c 3 -q >/dev/null
mkdir fast
bench() {
    weir bench set -r 2 -b 16 --no-limits --epochs 1 --digest --size 48x32 \
        --dtype u8 --json "$@"
}
bench >plain.json
weir stage set fast:50MiB
weir stage set fast:50MiB --json | grep '"staged"\|"already_there"\|"bytes_read"'
bench --cache fast:50MiB >cached.json
weir stage set fast:50MiB --cache-what decoded --size 48x32 --dtype u8 | head -n 2
bench --cache fast:50MiB --cache-what decoded >decoded.json
bench --cache fast:50MiB >again.json
for f in cached decoded again; do
    [ "$(grep -c '"misses": 0' $f.json)" = 2 ]
    [ "$(grep -c '"dir_hits": 60' $f.json)" = 2 ]
    [ "$(grep -c '"bytes": 0,' $f.json)" = 2 ]
    grep '"digest"' $f.json | head -n 1 >a
    grep '"digest": "' plain.json | head -n 1 >b
    tail -n 1 a | tr -d ' ,' >a1
    tail -n 1 b | tr -d ' ,' >b1
    cmp a1 b1
done
