# A loss that is no number stops training with advice; the last checkpoint is
# kept and has weights that are numbers.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
tiny set -i 50 --learning-rate 1e5 --ckpt run --save-every 1 >out
