# A rank that is killed is named by the others, which end.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
( sleep 1; while [ ! -s pid.1 ]; do sleep 0.1; done; kill -9 "$(cat pid.1)" ) &
code=0
ranks 2 weir run kit.yaml data --no-selftest --monitor 0 \
    train.computation_time=0.5 train.epochs=100 >out || code=$?
wait
grep -o 'rank 1 .*' err | head -n 1
echo "exit $code"
