# A profile needs random reads; the tables are printed all the same.
mkdir place
code=0
weir probe place --only seq --quick --passes 1 --seconds 0.02 --file-size 16M \
    --fit x.profile >out || code=$?
grep -c '^Sequential' out
[ ! -e x.profile ]
exit "$code"
