# Two at once fill one folder together; nothing is lost, nothing kept twice.
weir gen caltech101 set -n 200 -c 4 -q >/dev/null
mkdir fast
weir stage set fast:50MiB -d 4 >one &
first=$!
weir stage set fast:50MiB -d 4 --order sequential >two
wait "$first"
weir stage set fast:50MiB --json | grep '"kept"\|"staged"'
all=$(weir inspect set --json | sed -n 's/.*"total": \([0-9]*\).*/\1/p')
kept=$(cat fast/weir-cache-*/*/data-* | wc -c)
[ "$kept" -lt "$((all + 200 * 64 + 8192))" ]
weir bench set -r 2 --no-limits --digest --size 16x16 --json >plain.json
weir bench set -r 2 --no-limits --digest --size 16x16 --json \
    --cache fast:50MiB >cached.json
grep -q '"misses": 0' cached.json
grep -o '"digest": "[0-9a-f]*"' plain.json >a
grep -o '"digest": "[0-9a-f]*"' cached.json >b
cmp a b
