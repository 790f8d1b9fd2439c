# --file that is not there; nothing stays in the folder.
mkdir place
code=0
weir probe place --quick --file nowhere || code=$?
[ -z "$(ls -A place)" ]
exit "$code"
