[ -w /dev/fuse ] || { echo "no /dev/fuse" >&2; exit 77; }
! weir mount -u . 2>&1 | grep -q libfuse3 || { echo "built without libfuse3" >&2; exit 77; }
mkdir -p a/b
weir mount --profile hdd a a/b
