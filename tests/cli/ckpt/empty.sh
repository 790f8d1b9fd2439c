# A folder without steps, and one that is a step itself.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
mkdir store
weir ckpt ls store
weir ckpt verify store || echo "exit $?"
make_file in.safetensors hello
weir ckpt save other --from in.safetensors --step 1 --level fast
weir ckpt ls other/step-000000000001/ || echo "exit $?"
weir ckpt show other/step-000000000001 || echo "exit $?"
weir ckpt restore store --into out
