# Ctrl-C ends a run without a result and without leftovers.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
weir run kit.yaml data --no-selftest --monitor 0 -g 3 \
    train.computation_time=10 --record run.json >out 2>err &
pid=$!
sleep 0.7
kill -INT $pid
code=0
wait $pid || code=$?
cat err
echo "exit $code"
[ ! -e run.json ]
