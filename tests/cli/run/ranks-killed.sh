# A rank that is killed is named by the others, which end.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
# Rank 0 says where it will write when it has met the other one.
(
    for _ in $(seq 600); do
        if grep -q 'writes DLIO' err 2>/dev/null; then break; fi
        sleep 0.1
    done
    kill -9 "$(cat pid.1)"
) &
code=0
ranks 2 weir run kit.yaml data --no-selftest --monitor 0 --dlio-output dlio \
    train.computation_time=0.5 train.epochs=100 >out || code=$?
wait
grep -o 'rank 1 .*' err | head -n 1
echo "exit $code"
