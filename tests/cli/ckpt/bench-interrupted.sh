# Ctrl-C in the middle of a slow bench leaves nothing.
mkdir d
weir ckpt bench d --moments 0 --ways slow --saves 1000 >out 2>err &
pid=$!
until [ -s out ]; do # a signal before is ignored, as the shell wants it
    kill -0 "$pid"
    sleep 0.02
done
until [ -d d/weir-ckpt-bench-slow ]; do
    kill -0 "$pid"
    sleep 0.02
done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[ "$code" = 130 ]
ls -A d
cat err
