# Residency of other people's files is not told, and that is said; dropping
# and warming work all the same.
[ "$(id -u)" -eq 0 ] || { echo "needs root" >&2; exit 77; }
mkdir d
head -c 100000 /dev/zero >d/file
chmod 755 . .. d
chmod 644 d/file
weir cache drop d --json | tail -n +12 | grep -q '"resident_bytes": 0,' ||
    { echo "this file system keeps its pages" >&2; exit 77; }
user="setpriv --reuid=65534 --clear-groups"
$user "$WEIR" --version >/dev/null 2>&1 ||
    { echo "cannot become another user here" >&2; exit 77; }
weir cache warm d >/dev/null
$user "$WEIR" cache drop d --json >dropped
if grep -q '"unknown_files": 0' dropped; then
    echo "this kernel tells everyone" >&2
    exit 77
fi
grep -q '"resident_bytes": null' dropped
weir cache status d --json | grep -q '"resident_bytes": 0,'
# Another process may make the kernel drop pages in between: try again.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    $user "$WEIR" cache warm d -q >warmed
    weir cache status d --json >state
    ! grep -q '"resident_bytes": 100000,' state || break
done
grep -q '"resident_bytes": 100000,' state
cat warmed
