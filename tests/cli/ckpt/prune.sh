# Retention: last, every, pinned; what goes is said before.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
for s in 1 2 3 4 5 6; do
    make_file in.safetensors "state of step $s"
    weir ckpt save only --from in.safetensors --step $s --keep 0 >/dev/null
done
weir ckpt pin only --step 1
weir ckpt prune only --keep 2 --every 3 --dry-run
set -- only/step-*
echo $#
weir ckpt prune only --keep 2 --every 3
ls -d only/step-*
weir ckpt unpin only --step 1
weir ckpt prune only --keep 0 --after 3
weir ckpt prune only --spare --keep 0
ls -A only
