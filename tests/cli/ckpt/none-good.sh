# Steps are there and none can be read: that is an error, not "no steps".
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save_steps 1
printf 'X' | dd of=slow/step-000000000001/MANIFEST bs=1 seek=30 conv=notrunc 2>/dev/null
weir ckpt restore slow --into out
