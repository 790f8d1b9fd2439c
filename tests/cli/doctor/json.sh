# As docs/formats/doctor.md has it: the same members, types and checks.
prlimit --nofile=32 weir doctor --json . >out.json
cat >check.py <<'END'
import json, re, sys
doc = json.load(open('out.json'))
page = open(sys.argv[1]).read()
members = set(re.findall(r'^\| `(\w+)`(?:, `(\w+)`)?(?:, `(\w+)`)? \|', page, re.M))
members = {m for row in members for m in row if m}
types = {'schema': str, 'version': int, 'weir': str, 'can_feed': bool, 'ok': int,
         'limited': int, 'missing': int, 'checks': list}
one = {'check': str, 'health': str, 'essential': bool, 'found': str}
maybe = {'path', 'means', 'remedy'}
assert set(doc) == set(types), doc.keys()
assert all(type(doc[k]) is t for k, t in types.items())
assert (doc['schema'], doc['version']) == ('weir-doctor', 1)
for c in doc['checks']:
    assert set(c) == set(one) | maybe, c
    assert all(type(c[k]) is t for k, t in one.items())
    assert all(c[k] is None or c[k] and type(c[k]) is str for k in maybe)
    assert c['health'] in ('ok', 'limited', 'missing')
    assert c['health'] == 'ok' or c['means'], c
for name in set(types) | set(one) | maybe:
    assert name in members or name in ('schema', 'version'), name
named = re.findall(r'^\| `([^`]+)` \| [^|]* \| ?(yes)? ?\|$', page, re.M)
assert [(c['check'], 'yes' if c['essential'] else '') for c in doc['checks']] \
    == named, named
for health in ('ok', 'limited', 'missing'):
    assert doc[health] == sum(c['health'] == health for c in doc['checks'])
assert doc['can_feed'] is True
files = next(c for c in doc['checks'] if c['check'] == 'open files')
assert files['health'] == 'limited' and files['path'] is None
assert [c['path'] for c in doc['checks'][-3:]] == ['.'] * 3
END
command -v python3 >/dev/null || { echo "no python3" >&2; exit 77; }
python3 check.py "$(dirname "$0")/../../../docs/formats/doctor.md"
