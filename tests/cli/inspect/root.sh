# Relative paths of a list may start elsewhere; a tree has no use for a root.
mkdir d
weir gen caltech101 d/x -n 6 -c 2 -q >/dev/null
(cd d/x && find . -name "*.jpg" | sort | sed "s/$/,0/") >l.txt
weir inspect l.txt --root d/x | sed -n "3,4p"
weir inspect d/x --root d
