# A disk that fills up meanwhile: the reason is told, nothing stays behind.
[ "$(id -u)" = 0 ] || { echo "mounting needs root" >&2; exit 77; }
mkdir disk
mount -t tmpfs -o size=100M tmpfs disk 2>/dev/null || {
    echo "tmpfs cannot be mounted" >&2
    exit 77
}
trap 'umount disk' EXIT
code=0
weir probe disk --quick --passes 1 --seconds 0.02 --file-size 200MiB >out 2>err ||
    code=$?
[ "$code" = 1 ]
grep -q "are needed, .* are free" err
[ -z "$(ls -A disk)" ]
# What fits is measured, without direct requests where there are none.
weir probe disk --quick --passes 1 --seconds 0.02 --files 20 -o run.json >out
grep -q '^Small files' out
[ -z "$(ls -A disk)" ]
# A fault in the middle, as from a disk that another program fills.
code=0
weir probe 'fault:write-enospc@9+:disk' --quick --file-size 12MiB --files 20 >out \
    2>err || code=$?
[ "$code" = 1 ]
grep -qi "no space left" err
[ -z "$(ls -A disk)" ]
