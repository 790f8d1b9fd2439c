# A small data set: files, folders and the summary.
weir gen caltech101 photos --samples 12 --classes 3 --write-list photos.csv
test "$(cd photos && echo *)" = "class_0000 class_0001 class_0002"
test "$(find photos/class_0001 -type f | wc -l)" -eq 4
test -f photos/class_0002/0002_000003.jpg
test "$(wc -l < photos.csv)" -eq 12
test "$(head -1 photos.csv)" = "photos/class_0000/0000_000000.jpg,0"
test "$(find . -mindepth 1 -maxdepth 1 | wc -l)" -eq 2
