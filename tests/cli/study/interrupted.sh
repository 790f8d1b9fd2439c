# Ctrl-C ends it soon, and the same command goes on behind what was measured.
set -- s --images 64 -r 2 --only fig5 -t 1,2
weir study "$@" >/dev/null 2>err &
pid=$!
until [ "$(find s/cells -name '*.json' 2>/dev/null | wc -l)" -ge 3 ]; do
    kill -0 "$pid"
    sleep 0.02
done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[ "$code" = 130 ]
grep -q 'interrupted: [1-9][0-9]* of 20 runs are done and kept; the same' err
[ ! -e s/study.json ]
[ -z "$(find s -name '*.part')" ]
weir study "$@" --dry-run --json >plan.json
python3 -c 'import json; assert 0 < json.load(open("plan.json"))["figures"][0]["runs"] < 20'
weir study "$@" --quiet >/dev/null
[ -s s/study.json ]
