# A flipped byte is found, named with its place, and passed over.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save_steps 1 2
f=slow/step-000000000002/r00000.safetensors
printf 'X' | dd of=$f bs=1 seek=4100 conv=notrunc 2>/dev/null
weir ckpt verify slow && exit 9
weir ckpt restore slow --into out
grep -o '"step": *[0-9]*' out/MANIFEST
