# Reading makes nothing.
weir ckpt verify nowhere 2>/dev/null && exit 9
[ ! -e nowhere ]
