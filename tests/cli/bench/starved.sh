# Other programs had the core that it could have used: that comes first, in the
# text, the record and the report, and no verdict is given.
for program in python3 taskset; do
    command -v "$program" >/dev/null || {
        echo "no $program" >&2
        exit 77
    }
done
core=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
taskset -cp "$core" $$ >/dev/null
weir gen caltech101 set --samples 60 --classes 4 --quiet >/dev/null

while :; do :; done &
one=$!
while :; do :; done &
two=$!
trap 'kill $one $two' EXIT
weir bench set -r 3 -b 4 --no-limits --epochs 8 -o run.json >text

python3 - <<'END'
import json

r = json.load(open('run.json'))
case = r['cases'][0]
assert case['result']['starved'] is True, case['result']
for run in case['runs'][1:]:
    c = run['cores']
    assert c['count'] == 1 and c['starved'] is True, c
    assert c['others'] > 0.3 and c['own'] < 0.7, c
assert r['cores']['starved'] is True, r['cores']
lines = open('text').read().split('\n')
assert lines[3].startswith('Starved: other programs had '), lines
assert ' of 1 core, this one ' in lines[3], lines
at = [i for i, line in enumerate(lines) if line.startswith('stages')][0]
assert at > 3 and lines[at + 1].endswith(' starved'), lines
END
weir report run.json >shown
grep -q 'Starved: other programs had' shown
cp run.json again.json
weir report run.json again.json >shown
grep -q 'A was starved' shown
grep -q 'B was starved' shown
if weir report run.json --html page 2>err; then
    grep -q 'Starved: other programs had' page
fi
