# A record that cannot be written is told before anything is measured; one that
# fails at the end does not cost the result on stdout.
mkdir place
for option in --record --fit; do
    code=0
    weir probe place --quick --json $option /nonexistent/x >out 2>err || code=$?
    [ "$code" = 1 ]
    [ ! -s out ]
    grep -q "'/nonexistent/x': cannot" err
    [ -z "$(ls -A place)" ]
done
[ -c /dev/full ] || exit 77
code=0
weir probe place --only sync --passes 1 --seconds 0.02 --json -o /dev/full \
    >out || code=$?
grep -q '"schema": "weir-record"' out
exit "$code"
