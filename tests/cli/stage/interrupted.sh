# Ctrl-C ends it soon, what is there stays, and the same command goes on.
weir gen caltech101 set -n 400 -c 4 -q >/dev/null
mkdir fast
slow='fault:delay=500:set'
weir stage "$slow" fast:50MiB -t 1 -d 4 >out 2>err &
pid=$!
# 8 a second: some are there soon, all only after 50 seconds
until [ "$(cat fast/weir-cache-*/*/data-* 2>/dev/null | wc -c)" -ge 100000 ]; do
    kill -0 "$pid"
    sleep 0.1
done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[ "$code" = 130 ]
[ ! -s out ]
cat err
weir stage "$slow" fast:50MiB -t 8 -d 64 --json >out.json
grep '"kept"\|"damaged"' out.json
! grep -q '"already_there": 0' out.json
