# Another user: told why, nothing left.
[ "$(id -u)" -eq 0 ] || { echo "needs root" >&2; exit 77; }
[ -w /dev/fuse ] || { echo "no /dev/fuse" >&2; exit 77; }
mkdir a b
chmod 755 . .. b
chmod 700 a
user="setpriv --reuid=65534 --clear-groups"
$user "$WEIR" --version >/dev/null 2>&1 ||
    { echo "cannot become another user here" >&2; exit 77; }
! weir mount -u . 2>&1 | grep -q libfuse3 || { echo "built without libfuse3" >&2; exit 77; }
$user "$WEIR" mount --profile hdd a b
