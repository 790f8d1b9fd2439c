# HDF5 in chunks: made, checked, and read by one rank.
[ -x "${WEIR_HDF5_HELPER:-}" ] || { echo "built without HDF5" >&2; exit 77; }
weir gen cosmic_tagger d --scale 0.001 -q >/dev/null
weir gen cosmic_tagger e --scale 0.001 -q 'dataset.hdf5.chunk_dims=[]' >/dev/null
sleep 1.1 # files have no times in them
weir inspect e --verify | grep -q "all as it was made"
weir inspect d --verify | grep -q "all as it was made"
weir inspect d/train | grep -q "records_0: 1x1x6144; a sample touches 8"
weir run cosmic_tagger d --scale 0.001 --steps 3 --no-selftest --monitor 0 \
    train.computation_time=0.01 >said
grep -q "mostly of 6 KiB" said
# A byte of a chunk that changed is found.
printf x | dd of=d/train/larcv_0_of_1.hdf5 bs=1 seek=100000 conv=notrunc 2>/dev/null
printf y | dd of=d/train/larcv_0_of_1.hdf5 bs=1 seek=100001 conv=notrunc 2>/dev/null
code=0
weir inspect d --verify >said || code=$?
test "$code" -eq 3
grep -q "larcv_0_of_1.hdf5: byte 10000[01] is wrong" said
