# A disk without room for a checkpoint is named before anything is trained.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
[ "$(id -u)" = 0 ] || { echo "mounting needs root" >&2; exit 77; }
mkdir disk
mount -t tmpfs -o size=2M tmpfs disk 2>/dev/null || {
    echo "tmpfs cannot be mounted" >&2
    exit 77
}
trap 'umount disk' EXIT
make_set
for tiers in '--ckpt disk/run' '--ckpt run --slow disk/run'; do
    code=0
    # shellcheck disable=SC2086
    tiny set --width 0.25 -i 100000 $tiers >out 2>err || code=$?
    sed 's/takes .*/takes .../' err
    echo "exit $code"
done
# What fits is saved.
tiny set --width 0.03 -i 2 --ckpt disk/run --keep 1 --json | result saved_step
