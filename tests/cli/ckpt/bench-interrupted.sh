# Ctrl-C in the middle of a save that will take an hour ends it, and leaves
# nothing; what it is and how long it takes was said before. One that hangs is
# killed after a minute.
mkdir d
printf 'like = null\nwrite_bandwidth = 100 KB/s\nchannels = 1\n' >ages.profile
: >out # grep may look before the command does
weir ckpt bench d --slow-device ./ages.profile --state small --ways slow >out 2>err &
pid=$!
until grep -q about out; do # a signal before is ignored, as the shell wants it
    kill -0 "$pid"
    sleep 0.02
done
until [ -n "$(find d -name '*.safetensors')" ]; do # it is being written
    kill -0 "$pid"
    sleep 0.02
done
kill -INT "$pid"
(
    for _ in $(seq 600); do
        [ ! -e over ] || exit 0
        sleep 0.1
    done
    kill -KILL "$pid"
) &
guard=$!
code=0
wait "$pid" || code=$?
: >over
wait "$guard"
[ "$code" = 130 ] || echo "exit $code"
ls -A d
cat out err
