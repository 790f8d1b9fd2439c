# A random sample of headers, and the names of the classes.
weir gen caltech101 d -n 30 -c 3 -q >/dev/null
weir inspect d --samples 7 --list-classes
