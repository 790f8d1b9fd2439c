# Ctrl-C: the exit code says so, and nothing is left behind.
mkdir work
weir gen imagenet work/d -n 1000000 2> said &
pid=$!
while [ -z "$(ls -A work)" ]; do
    kill -0 "$pid" || exit 1 # it ended without making anything
    sleep 0.05
done
sleep 0.3
kill -TERM "$pid"
code=0
wait "$pid" || code=$?
test "$code" -eq 143
test -z "$(ls -A work)"
grep -q "interrupted: nothing was left" said
