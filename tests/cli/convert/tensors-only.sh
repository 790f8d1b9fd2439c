# Raw tensors are no pictures.
weir gen tensors in -n 8 --shape 4x4x7 -q > /dev/null
weir convert in out --to tfrecord
