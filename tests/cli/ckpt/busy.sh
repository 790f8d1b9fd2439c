# A store that another process writes: what may be done is told, and works.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save_steps 1
: >note
weir ckpt drain --watch fast slow 2>note &
pid=$!
until grep -q watching note; do
    kill -0 "$pid"
    sleep 0.05
done
weir ckpt prune fast slow || echo "exit $?"
weir ckpt verify fast slow | tail -n 1 | cut -d, -f1
kill -INT "$pid"
wait "$pid" || echo "exit $?"
