# A profile needs random reads: said before anything is measured.
mkdir place
code=0
weir probe place --only seq --quick --passes 1 --seconds 0.02 --file-size 16MiB \
    --fit x.profile >out || code=$?
[ ! -s out ]
[ -z "$(ls -A place)" ]
[ ! -e x.profile ]
exit "$code"
