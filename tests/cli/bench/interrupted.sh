# Ctrl-C ends it soon and leaves no record behind, not even a part of one.
weir gen caltech101 set --samples 200 --classes 4 --quiet >/dev/null
weir bench set -r 1000 -o run.json >/dev/null 2>err &
pid=$!
sleep 2
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[ "$code" = 130 ]
[ ! -e run.json ]
[ -z "$(find . -name '*.part')" ]
