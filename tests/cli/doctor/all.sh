# Each check is one line with its health, and the last line says what follows.
weir doctor . >out
for check in kernel cores memory 'open files' 'locked memory' io_uring \
    'cache state' 'drop caches' 'kernel trace' 'index folder' mount pictures 'packed data' 'report pages' \
    oneDNN HDF5 MPI 'file system' O_DIRECT 'disk counters'; do
    [ "$(grep -cE "^ *(ok|limited|missing) +$check  " out)" -eq 1 ] ||
        { echo "not once: $check" >&2; exit 1; }
done
tail -n 1 out | grep -qE '^[0-9]+ ok, [0-9]+ limited, [0-9]+ missing: weir can feed here\.$'
# What is named is examined, and nothing is left there.
mkdir a b
weir doctor a b | grep -cxE 'a|b'
rmdir a b
