# Damage that only decoding shows, names that need care, a loop: exit 3.
weir gen caltech101 d -n 8 -c 2 -q >/dev/null
first=$(find d/class_0000 -name "*.jpg" | sort | head -n 1)
head -c 2000 "$first" >d/class_0001/cut.jpg
: >d/class_0001/empty.jpg
cp "$first" d/class_0001/named.png
printf 'hello' >"d/class_0001/two
lines.jpg"
ln -s .. d/class_0000/up
weir inspect d --verify
