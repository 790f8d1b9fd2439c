# Any number of threads gives the same bytes, also with samples that differ; the
# data set is read as it was made.
weir gen tensors a -n 5 --to npz --shape 9x4 --dtype i16 --vary 50 \
    --samples-per-file 1 --threads 1 > /dev/null
weir gen tensors b -n 5 --to npz --shape 9x4 --dtype i16 --vary 50 \
    --samples-per-file 1 --threads 3 > /dev/null
diff -r a b
weir inspect a --verify | grep -E '^  (samples|shape)|broken'
weir gen tensors b --force -n 5 --to npz-deflated --shape 9x4 > /dev/null
weir inspect b --verify | grep -E '^  (samples|shape)|broken'
