# kill -9 at several moments: each time it goes on, and ends whole.
set -- s --images 64 -r 2 --only fig5,fig6 -t 2 --iterations 2 --quick
for ms in 0.3 0.8 1.5 3; do
    weir study "$@" >/dev/null 2>&1 &
    pid=$!
    sleep "$ms"
    kill -9 "$pid" 2>/dev/null || :
    wait "$pid" 2>/dev/null || :
done
weir study "$@" --quiet --json >out.json
python3 - <<'END'
import json
r = json.load(open('out.json'))
assert all(f['complete'] for f in r['figures'])
END
[ -z "$(find s/data -name 'run-*')" ]
