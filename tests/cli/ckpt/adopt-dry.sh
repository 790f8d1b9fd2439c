# A dry run of adopt onto a slow folder that is missing, as adopt makes it.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save_steps 1 2
rm -r slow
weir ckpt adopt fast slow --dry-run
[ ! -e slow ]
weir ckpt adopt fast slow
