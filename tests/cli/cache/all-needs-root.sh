# Without the right to empty the whole cache, the error alone is printed, and
# nothing was done to the files.
user=
if [ "$(id -u)" -eq 0 ]; then
    user="setpriv --reuid=65534 --clear-groups"
    $user "$WEIR" --version >/dev/null 2>&1 ||
        { echo "cannot become another user here" >&2; exit 77; }
fi
mkdir d
head -c 10000 /dev/zero >d/file
chmod -R a+rX .. .
$user "$WEIR" cache drop --all d
