# Records, plain and gzip, are kept with what frames them; labels come out.
weir gen caltech101 set -n 40 -c 4 -q >/dev/null
weir convert set rec --to tfrecord --shard-size 100KiB -q >/dev/null
mkdir fast gz
for f in rec/*.tfrecord; do gzip -c "$f" >"gz/${f#rec/}.gz"; done
for d in rec gz; do
    weir stage $d fast:50MiB --json --order block | grep '"kept"'
    weir bench $d -r 2 --no-limits --digest --size 16x16 --json \
        --order sequential >plain.json
    weir bench $d -r 2 --no-limits --digest --size 16x16 --json \
        --order sequential --cache fast:50MiB >cached.json
    grep -q '"misses": 0' cached.json
    grep -o '"digest": "[0-9a-f]*"' plain.json >a
    grep -o '"digest": "[0-9a-f]*"' cached.json >b
    cmp a b
done
