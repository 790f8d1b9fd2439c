# What the input costs: three bars, one sentence, and the record.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
tiny set --compare -i 3 -r 3 -o cpu.json >out
grep -c ' [0-9,.]* ([0-9,.]* to [0-9,.]*)$' out
grep -o '^ *input alone' out
grep -o '^ *computing alone' out
grep -o '^ *everything' out
grep -E -c '^(The input pipeline costs nothing that can be seen here|The input pipeline costs [0-9.]+ % of the training time|What the input pipeline costs cannot be told, the times differ too much) \(.* in 2 rounds of 3 iterations\): .* images/s with it, .* without; alone it delivers .* images/s\.$' out
weir train set --compare --accelerator ms=4 -b 6 -i 4 -r 2 --monitor 0 --json >emulated.json
python3 - <<'END_PY'
import json
for name, rounds in (('cpu', 2), ('emulated', 1)):
    r = json.load(open(name + '.json'))
    c = r['compare']
    print(name, sorted(c), c['iterations'], sorted(c['cost']))
    for way in 'input', 'synthetic', 'full':
        x = c[way]
        print(way, sorted(x), x['runs'] == rounds,
              0 < x['min'] <= x['images_per_s'] <= x['max'])
    print(c['cost']['min'] <= c['cost']['median'] <= c['cost']['max'] < 1)
    # The last run of everything is the run of the record.
    print(r['result']['iterations'], r['settings']['holdout'],
          len(r['series']['t_s']), r['validations'])
END_PY
weir report cpu.json | grep -c 'What the input costs'
# Nothing is saved, nothing is validated, and some things do not fit.
try() {
    code=0
    weir train set --compare "$@" 2>err || code=$?
    head -n 1 err
    echo "exit $code"
}
try --synthetic -i 3
try --epochs 2
try --ckpt run
try --accelerator None
try -r 1
code=0
weir train set -r 4 2>err || code=$?
head -n 1 err
echo "exit $code"
[ ! -e run ]
