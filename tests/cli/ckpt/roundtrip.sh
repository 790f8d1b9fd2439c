# A file goes in, is drained, listed, shown, checked and comes out again.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save_steps 1 20
weir ckpt ls fast slow
weir ckpt show fast slow --step 1
weir ckpt verify fast slow
weir ckpt restore fast slow --into out
weir ckpt show out/r00000.safetensors
weir ckpt verify out/r00000.safetensors
tail -c 16 out/r00000.safetensors
