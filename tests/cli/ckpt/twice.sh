# A step that is there is not written over.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save_steps 1
weir ckpt save fast slow --from in.safetensors --step 1
