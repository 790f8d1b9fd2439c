# Everything as JSON, names that are not UTF-8 included.
weir gen caltech101 d -n 6 -c 2 -q >/dev/null
: >"$(printf 'd/class_0000/\377.jpg')"
weir inspect d --verify --json
