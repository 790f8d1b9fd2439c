# What is no JPEG is encoded, arrays of pixels too; JPEGs keep their bytes.
weir gen caltech101 in -n 4 -c 1 -q > /dev/null
name=$(basename "$(dirname "$(find in -name '*.jpg' | head -n 1)")")
printf 'P6 2 3 255\n123456789012345678' > "in/$name/rgb.ppm"
printf 'P5 2 3 255\n123456' > "in/$name/gray.pgm"
weir convert in out --to jpeg -q > /dev/null
test "$(find out -name '*.jpg' | wc -l)" -eq 6
for f in "in/$name"/*.jpg; do cmp "$f" "out/$name/$(basename "$f")"; done
weir inspect --verify out | grep 'formats\|None of'
for shape in 8x6x3 8x6x1 8x6; do
    weir gen tensors "t-$shape" -n 5 --shape "$shape" -q > /dev/null
    weir convert "t-$shape" "j-$shape" --to jpeg -q > /dev/null
    weir inspect --verify "j-$shape" | grep 'dimensions\|colours\|None of'
done
weir convert t-8x6x3 r-8x6x3 --to tfrecord --max-side 4 -q > /dev/null
weir inspect --verify r-8x6x3 | grep 'dimensions\|None of'
