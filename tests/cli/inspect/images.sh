# A tree of pictures: format, counts, sizes, dimensions.
weir gen caltech101 d -n 24 -c 4 -q >/dev/null
weir inspect d
