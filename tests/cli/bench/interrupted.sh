# Ctrl-C ends it soon and leaves no record behind, not even a part of one.
weir gen caltech101 set --samples 200 --classes 4 --quiet >/dev/null
weir bench set -r 1000 -o run.json >/dev/null 2>err &
pid=$!
# Bit 1 of the caught signals: SIGINT has its handler.
until grep -q '^SigCgt:.*[2367abef]$' "/proc/$pid/status"; do
    kill -0 "$pid"
    sleep 0.02
done
sleep 0.5
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[ "$code" = 130 ]
[ ! -e run.json ]
[ -z "$(find . -name '*.part')" ]
