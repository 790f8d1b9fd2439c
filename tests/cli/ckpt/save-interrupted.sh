# A save that is held back because nobody drains ends by Ctrl-C, and loses
# nothing.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_file in.safetensors state
for s in 1 2; do
    weir ckpt save fast slow --level fast --from in.safetensors --step $s
done
weir ckpt save fast slow --level fast --from in.safetensors --step 3 2>err &
pid=$!
until grep -qs '^weir-save' "/proc/$pid/task/"*/comm; do
    ! grep -q '^State:.*Z' "/proc/$pid/status"
    sleep 0.02
done
kill -INT "$pid"
wait "$pid" || echo "exit $?"
cat err
weir ckpt verify fast slow | tail -n 1 | cut -d, -f1
