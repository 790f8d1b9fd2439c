# A file that cannot be opened is named; the others are done.
mkdir d
echo hello >d/file
echo hello >d/secret
chmod 0 d/secret
[ "$(id -u)" -eq 0 ] || exec weir cache status d --json
chmod 755 . ..
chown -R 65534 d
user="setpriv --reuid=65534 --clear-groups"
$user "$WEIR" --version >/dev/null 2>&1 ||
    { echo "cannot become another user here" >&2; exit 77; }
exec $user "$WEIR" cache status d --json
