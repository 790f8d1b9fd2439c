# Beside a trainer: each step is told by itself, and Ctrl-C ends it.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
: >note
: >told
mkdir fast slow
weir ckpt drain --watch fast slow >told 2>note &
pid=$!
until grep -q watching note; do
    kill -0 "$pid"
    sleep 0.05
done
for s in 1 2; do
    make_file in.safetensors "state of step $s"
    weir ckpt save fast slow --from in.safetensors --step $s --level fast
    until [ "$(wc -l <told)" -ge $s ]; do
        kill -0 "$pid"
        sleep 0.05
    done
done
kill -INT "$pid"
wait "$pid" || echo "exit $?"
sed 's/ in .*//' told
ls -d slow/step-*
