# A name that is not UTF-8 can be in JSON all the same.
weir gen caltech101 "$(printf 'a\377b')" -n 2 -c 2 -q --json >said
grep -qF '"path": "a\\xffb"' said
