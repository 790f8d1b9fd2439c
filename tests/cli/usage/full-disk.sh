[ -c /dev/full ] || { echo "no /dev/full" >&2; exit 77; }
weir help cache >/dev/full
