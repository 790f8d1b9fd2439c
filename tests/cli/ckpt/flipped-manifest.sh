# The same in the manifest: the step is called damaged and its reason told.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save_steps 1 2
printf 'X' | dd of=slow/step-000000000002/MANIFEST bs=1 seek=30 conv=notrunc 2>/dev/null
weir ckpt ls slow
weir ckpt show slow | head -1
