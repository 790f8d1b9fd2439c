# An index is kept in the folder named, used again, and rebuilt after a change.
weir gen caltech101 d -n 12 -c 3 -q >/dev/null
find d -exec touch -d '2020-01-01 00:00' {} +
weir inspect d --no-index-cache --index-dir idx | grep '  index'
test ! -e idx
weir inspect d --index-dir idx | grep '  index'
weir inspect d --index-dir idx | grep '  index'
weir bench d --index-dir idx --no-limits -r 2 --batches 1 --size 8x8 >/dev/null
test "$(find idx -type f | wc -l)" -eq 1
cp d/class_0000/*0.jpg d/class_0001/new.jpg
touch -d '2020-01-02 00:00' d/class_0001
weir inspect d --index-dir idx | grep '  samples\|  index'
WEIR_INDEX_DIR=idx weir inspect d --json | grep '"reused"\|"file"'
