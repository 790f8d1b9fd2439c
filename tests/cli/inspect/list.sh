# A list that names a missing file: the line is named, the rest is shown.
weir gen caltech101 d -n 6 -c 2 -q --write-list l.csv >/dev/null
echo 'nowhere.jpg,1' >>l.csv
weir inspect l.csv --no-verify
