# More than there is room for: refused before anything is written.
mkdir place
code=0
weir probe place --quick --file-size 900TiB || code=$?
[ -z "$(ls -A place)" ]
exit "$code"
