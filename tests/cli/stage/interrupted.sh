# Ctrl-C ends it soon, what is there stays, and the same command goes on.
weir gen caltech101 set -n 400 -c 4 -q >/dev/null
mkdir fast
slow='fault:delay=100:set'
weir stage "$slow" fast:50M -t 1 -d 4 >out 2>err &
pid=$!
# 40 a second: some are there after two batches
for _ in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.5
    [ "$(cat fast/weir-cache/*/data-* 2>/dev/null | wc -c)" -lt 100000 ] || break
done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[ "$code" = 130 ]
[ ! -s out ]
cat err
weir stage "$slow" fast:50M -t 8 -d 64 --json >out.json
grep '"kept"\|"damaged"' out.json
! grep -q '"already_there": 0' out.json
