# Ctrl-C keeps what was made and says how to go on.
weir gen unet3d_h100 d dataset.num_files_train=20 \
    dataset.record_length_bytes=20000000 --threads 1 2>said &
pid=$!
while [ "$(find .d.part -name '*.npz' 2>/dev/null | wc -l)" -lt 1 ]; do
    kill -0 "$pid" || exit 1 # it ended without making anything
    sleep 0.01
done
kill -TERM "$pid"
code=0
wait "$pid" || code=$?
[ ! -d d ] || exit 0 # it was faster than the signal
test "$code" -eq 143
grep -q "interrupted after [0-9]* of 20 files" said
grep -q "the same command continues" said
test -d .d.part
