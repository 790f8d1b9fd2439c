# The setting reaches the record; tensors have none.
weir gen caltech101 in -n 6 -c 2 -q >/dev/null
weir bench in -r 2 -b 2 --no-limits --size 16 --orient exif --json |
    grep '"orient": "exif"' | head -n 1
weir gen tensors set --samples 8 --shape 8x8x3 --quiet >/dev/null
weir bench set --dtype u8 --orient exif && exit 9
exit 0
