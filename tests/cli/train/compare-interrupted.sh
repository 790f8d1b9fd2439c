# Ctrl-C in the middle of a step: no result, no file, and soon.
weir gen caltech101 set --samples 40 --classes 4 --quiet >/dev/null
weir train set --compare --accelerator ms=100000 -b 4 -o out.json >out 2>err &
pid=$!
until grep -q '^SigCgt:.*[2367abef]$' "/proc/$pid/status"; do
    kill -0 "$pid"
    sleep 0.02
done
sleep 0.5
kill -INT "$pid"
code=0
wait "$pid" || code=$?
echo "exit $code"
cat err
[ ! -e out.json ]
grep -c 'images/s' out || :
