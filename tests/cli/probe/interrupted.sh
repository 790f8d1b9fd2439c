# Ctrl-C at several moments: exit 130, the folder gone, no record.
mkdir place
for wait in 0.05 0.3 0.8 1.5; do
    : >out
    weir probe place --quick --file-size 64MiB --files 200 --seconds 20 -o run.json >out 2>err &
    pid=$!
    until [ -s out ]; do # a signal before is ignored, as the shell wants it
        kill -0 "$pid"
        sleep 0.02
    done
    sleep "$wait"
    kill -INT "$pid"
    code=0
    wait "$pid" || code=$?
    [ "$code" = 130 ]
    [ -z "$(ls -A place)" ]
    for left in run.json*; do [ ! -e "$left" ]; done
    ! grep -q 'Sequential' out
done
cat err
