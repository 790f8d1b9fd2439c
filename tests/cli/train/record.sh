# What the record has, for programs.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
tiny set --epochs 2 --ckpt run --save-every 5 -o run.json >/dev/null
weir train set --accelerator K80 -b 6 -i 3 --monitor 0 --json >emulated.json
weir train set --synthetic -i 3 --engine reference --size 67 --width 0.0625 \
    -b 6 --monitor 0 --json >synthetic.json
python3 - <<'END_PY'
import json
r = json.load(open('run.json'))
print(r['command'], sorted(k for k in r if k != 'cores'))
x = r['result']
print(sorted(x))
parts = x['wait_s'] + x['step_s'] + x['save_s'] + x['validate_s']
print(0 < parts <= x['seconds'])
s = r['series']
print({k: len(v) for k, v in s.items() if k != 'merged'}, s['merged'])
print([v['iteration'] for v in r['validations']])
print([v['samples'] for v in r['validations']])
print([v['step'] for v in r['saves']])
e = json.load(open('emulated.json'))
print(e['accelerator']['name'], bool(e['accelerator']['source']),
      'weights_digest' in e['result'], set(e['series']['loss']))
y = json.load(open('synthetic.json'))
print('input' in y, y['result']['loss_last'] < 100)
END_PY
