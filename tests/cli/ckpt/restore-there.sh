# A folder that is there is not written into.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save_steps 1
mkdir out
weir ckpt restore slow --into out
