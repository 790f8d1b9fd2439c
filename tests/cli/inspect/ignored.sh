# Files that no format reads are counted and named, also from the index file.
weir gen caltech101 d -n 12 -c 3 -q >/dev/null
for f in a.heic b.HEIC c.mp4 core; do : >"d/class_0000/$f"; done
for f in README labels.txt .hidden meta.json; do : >"d/$f"; done
find d -exec touch -d '2020-01-01 00:00' {} +
weir inspect d --index-dir idx | grep 'index  \|ignored'
weir inspect d --index-dir idx | grep 'index  \|ignored'
weir inspect d --index-dir idx --json | grep -A 20 '"remarks"' | tr -d ' \n'
