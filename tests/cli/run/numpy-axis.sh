# Files of one sample of NumPy's, as DLIO has them, are read whole: their last
# axis counts the samples, not their first.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
for each in 1 3; do
    set -- dataset.format=npy dataset.num_files_train=4 \
        dataset.num_files_eval=0 dataset.num_subfolders_train=0 \
        dataset.num_subfolders_eval=0 "dataset.num_samples_per_file=$each" \
        dataset.record_length_bytes=10000
    weir gen default "d$each" "$@" -q >/dev/null
    weir run default "d$each" "$@" reader.batch_size=1 train.epochs=1 \
        train.computation_time=0.001 --no-selftest --monitor 0 --json -q >out
    of result.samples <out
    of reads.usual_bytes <out
done
