# A folder whose files nobody reads: which ones they are.
mkdir -p d/cat
for f in 1.heic 2.heic 3.mov; do : >"d/cat/$f"; done
weir inspect d
