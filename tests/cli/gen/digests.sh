# The bytes of each form that no library encodes, as they always were.
for to in wt npy npz csv jsonl indexed_binary; do
    weir gen tensors "$to" --to "$to" --shape 6x5x3 -n 50 \
        --samples-per-file 16 -c 5 --seed 9 -q > /dev/null
done
weir gen tensors f32 --shape 8x8x3 --dtype f32 -n 20 --samples-per-file 7 \
    -q > /dev/null
weir gen tensors vary --shape 20x20x3 -n 6 --samples-per-file 1 --vary 30 \
    -q > /dev/null
weir gen tensors noise --shape 1000 -n 30 --samples-per-file 8 --to npy \
    -q > /dev/null
for format in tfrecord csv npz npy png indexed_binary jsonl tar tensor; do
    samples=4
    test "$format" != png || samples=1
    weir gen unet3d_h100 "w-$format" dataset.format="$format" \
        dataset.num_files_train=3 dataset.num_files_eval=1 \
        dataset.num_samples_per_file="$samples" \
        dataset.record_length_bytes=20000 \
        dataset.record_length_bytes_stdev=0 --seed 5 -q > /dev/null
done
for set in */; do
    printf '%s ' "${set%/}"
    (cd "$set" && find . -type f ! -name '.weir-*' | sort |
        xargs sha256sum | sha256sum | cut -c 1-32)
done
