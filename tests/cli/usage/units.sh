# K and KB are 1000, KiB is 1024, for what is read and what is printed.
for rate in 2G 2GB 2G/s 2GB/s 2000000000 2GiB/s; do
    weir plan --sample-bytes 1MiB --samples 1000 --step-ms 100 --batch 32 \
        --aggregate $rate --cores 16 --cpu-ms 0.1 >out
    printf '%s: ' $rate
    sed -n 's/^storage .*lustre, \(.*\) for all.*/\1/p' out
done
for size in 2M 2MB 2MiB; do
    printf '%s: ' $size
    weir probe . --dry-run --only seq --file-size $size | grep -o 'fresh one of .*'
done
for wrong in 'plan --sample-bytes 2GB/s' 'plan --aggregate 2Q' 'probe . --block 4K'; do
    # shellcheck disable=SC2086 # a list of words
    weir $wrong 2>err || head -n 1 err
done
