# Any number of threads gives the same bytes; another seed does not.
for threads in 1 3; do
    weir gen default "t$threads" dataset.format=jpeg weir.content=photos \
        dataset.num_files_train=12 dataset.num_files_eval=0 \
        dataset.num_samples_per_file=1 dataset.record_length_bytes=20000 \
        --seed 3 --threads "$threads" -q >/dev/null
done
diff -r t1 t3
weir gen t1/.weir-gen.yaml other --seed 4 -q >/dev/null
if cmp -s t1/train/0/img_00_of_12.jpeg other/train/0/img_00_of_12.jpeg; then exit 9; fi
# Large sets of pictures are put together from drawn ones.
weir gen caltech101 a -n 40 -c 4 --drawn 8 --threads 1 -q >/dev/null
weir gen caltech101 b -n 40 -c 4 --drawn 8 --threads 3 -q >/dev/null
diff -r a b
weir inspect a --verify -q | grep -q "None of 40 samples is broken"
test "$(find a -name '*.jpg' -exec md5sum {} + | cut -c1-32 | sort -u | wc -l)" -eq 40
