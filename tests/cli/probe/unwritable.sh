# A record that cannot be written does not cost the result on stdout.
mkdir place
weir probe place --only sync --passes 1 --seconds 0.02 --json \
    -o /nonexistent/x.json >out || code=$?
grep -q '"schema": "weir-record"' out
exit "$code"
