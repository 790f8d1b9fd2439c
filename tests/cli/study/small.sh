# A small study: measured once, then all of it is there.
set -- s --quick --images 16 --repeat 2 --only fig5 --threads 1,2 --quiet
weir study "$@" --json >first.json
[ -s s/study.json ]
cmp -s first.json s/study.json
[ "$(find s/cells -name '*.json' | wc -l)" = 10 ]
find s/cells -name '*.json' -exec cat {} + | cksum >before
weir study "$@" >text
find s/cells -name '*.json' -exec cat {} + | cksum | cmp - before
grep -q 'fig5    cannot be seen here (calibration)' text
grep -q '16 pictures are too few for 2 threads' text
grep -q '^lustre (.*)$' text
weir study "$@" --dry-run | grep -q '^  fig5 *10 *0 *0 s'
python3 - <<'END'
import json
r = json.load(open('s/study.json'))
f, = r['figures']
assert r['command'] == 'study' and r['mode'] == 'quick' and f['complete']
assert [p['title'] for p in f['parts']] == ['hdd', 'ssd', 'optane', 'lustre', 'disk']
s = f['parts'][0]['series'][0]
assert s['role'] == 'measured' and s['values'][0]['runs'] == 1, s
# An emulated HDD cannot be faster than its seeks.
assert 50 < s['values'][0]['median'] < 130, s
END
weir report s/study.json >/dev/null
# A figure that is measured later does not take the first one off the page.
weir study s --quick --images 16 --repeat 2 --only formats --threads 1,2 \
    --quiet >text
if grep -q 'fig5' text; then exit 1; fi
python3 -c 'import json; r = json.load(open("s/study.json"))
assert [f["id"] for f in r["figures"]] == ["fig5", "formats"], r["figures"]'
weir study s --clean
[ ! -e s/data ]
[ -s s/study.json ]
