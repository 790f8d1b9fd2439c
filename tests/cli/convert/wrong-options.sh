# Options that do not belong to the target are refused, before any work.
for words in '--to tfrecord --dtype f32' '--to npy --max-side 100' \
    '--to jpeg --shard-size 1MiB' '--to tensor --normalize none' \
    '--to tensor --size 0x5' '--to tar --orient exif'; do
    code=0
    # shellcheck disable=SC2086
    weir convert in out $words || code=$?
    test "$code" -eq 2
done
test ! -e out
