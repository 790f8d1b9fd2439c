# Every format is made, and read with as many samples as it has.
count() { weir inspect "$@" --no-index-cache -q --json | grep -o '"samples": [0-9]*' | head -n 1; }
for format in npz npy csv tfrecord indexed_binary mmap_indexed_binary jsonl tar \
    tensor jpeg png; do
    samples=3
    schema=
    case $format in
    jpeg | png) samples=1 ;;
    npy) schema=--schema=axis=last ;;
    esac
    weir gen default "d-$format" "dataset.format=$format" \
        dataset.num_files_train=4 dataset.num_files_eval=1 \
        dataset.num_subfolders_train=0 dataset.num_subfolders_eval=0 \
        "++workload.dataset.num_samples_per_file=$samples" \
        dataset.record_length_bytes=10000 -q >/dev/null
    weir inspect "d-$format" --verify -q | grep -q "5 files.*all as it was made"
    test "$(count "d-$format/train" ${schema:+"$schema"})" = "\"samples\": $((4 * samples))"
    test "$(count "d-$format/valid" ${schema:+"$schema"})" = "\"samples\": $samples"
done
# Photographs as files and in records.
for format in jpeg tfrecord tar; do
    weir gen default "p-$format" "dataset.format=$format" weir.content=photos \
        dataset.num_files_train=6 dataset.num_files_eval=0 \
        dataset.num_subfolders_train=0 dataset.record_length_bytes=20000 \
        dataset.num_samples_per_file=1 -q >/dev/null
    test -d "p-$format/valid" # DLIO lists it
    weir inspect "p-$format" --verify -q | grep -q "all as it was made"
    weir inspect "p-$format/train" --verify -q | grep -q "None of 6 samples is broken"
done
