# A disk that fills up while it measures: a clear message, nothing half-written,
# and it goes on when there is room again.
unshare -m true 2>/dev/null || { echo "no mount namespaces here" >&2; exit 77; }
unshare -m sh -eu <<'END'
mkdir disk
mount -t tmpfs -o size=8m none disk
set -- disk/s --images 8 -r 2 --only fig5 -t 1 --quiet
weir study "$@" >/dev/null
rm disk/s/cells/* disk/s/study.*
dd if=/dev/zero of=disk/filler bs=4k 2>/dev/null || :
if weir study "$@" 2>err; then exit 1; fi
grep -q 'No space left' err
[ -z "$(find disk/s/cells -type f)" ]
[ ! -e disk/s/study.json ]
rm disk/filler
weir study "$@" >/dev/null
[ -s disk/s/study.json ]
END
