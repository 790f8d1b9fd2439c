# Nothing drains: the fast tier takes what fits; drained, it keeps nothing.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
for s in 1 2 3 4; do
    make_file in.safetensors "state of step $s"
    weir ckpt save fast slow --from in.safetensors --step $s --level fast
done
weir ckpt ls fast slow | tail -n 1
weir ckpt drain fast slow --keep-fast 0
ls -d fast/step-* 2>/dev/null || echo "none left"
ls -d slow/step-*
weir ckpt show fast slow | head -n 1
weir ckpt prune fast slow --keep 2 --keep-fast 0
