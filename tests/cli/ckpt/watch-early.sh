# Who watches may be started before the trainer has made the folders.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
: >note
: >told
weir ckpt drain --watch fast slow >told 2>note &
pid=$!
until grep -q "waiting for 'fast'" note; do
    kill -0 "$pid"
    sleep 0.05
done
[ ! -e fast ]
mkdir fast
until grep -q "waiting for 'slow'" note; do
    kill -0 "$pid"
    sleep 0.05
done
mkdir slow
until grep -q watching note; do
    kill -0 "$pid"
    sleep 0.05
done
make_file in.safetensors "state of step 1"
weir ckpt save fast slow --from in.safetensors --step 1 --level fast
until [ -s told ]; do
    kill -0 "$pid"
    sleep 0.05
done
kill -INT "$pid"
wait "$pid" || echo "exit $?"
sed 's/ in .*//' told
# And Ctrl-C ends it while it waits.
: >note # nothing of the first one
weir ckpt drain --watch none slow 2>note &
pid=$!
until grep -q waiting note; do
    kill -0 "$pid"
    sleep 0.05
done
kill -INT "$pid"
wait "$pid" || echo "exit $?"
[ ! -e none ]
