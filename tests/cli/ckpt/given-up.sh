# A copy that the drain gave up as damaged is shown as such, and can be pruned.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_file in.safetensors "state of step 1"
weir ckpt save fast slow --from in.safetensors --step 1 --level fast >/dev/null
printf 'X' | dd of=fast/step-000000000001/r00000.safetensors bs=1 seek=4100 conv=notrunc 2>/dev/null
weir ckpt drain fast slow && exit 9
weir ckpt ls fast slow --json | grep '"fast"'
weir ckpt drain fast slow && exit 9
save_steps 2 || true # which says so too
weir ckpt prune fast slow --keep 1
[ ! -e fast/.weir/damaged-000000000001 ]
