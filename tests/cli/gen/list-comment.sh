# A folder that begins like a comment still gives a list of pictures.
weir gen caltech101 "#d" -n 4 -c 2 -q --write-list l.csv >/dev/null
weir inspect l.csv -q --json | grep -q '"samples": 4'
