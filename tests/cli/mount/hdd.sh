# In the background, used and unmounted.
[ -w /dev/fuse ] || { echo "no /dev/fuse" >&2; exit 77; }
mkdir a b
trap 'weir mount -u --force b 2>/dev/null || :' EXIT
echo hello >a/file
weir mount --background --read-write --profile hdd a b 2>said || { cat said >&2; exit 77; }
grep -q 'mounted a at b as hdd, read-write' said
grep -q "each request costs .* of the mount's own" said
cat b/file
echo more >>b/file
mv b/file b/moved
weir mount -u b
trap - EXIT
cat a/moved
ls b
