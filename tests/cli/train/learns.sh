# Pictures are learned: the loss falls below a tenth of what it was within 150
# iterations, and of samples that were held out most are told apart.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set 240 4
weir train set --engine reference --size 80 --width 0.125 -b 16 -i 150 \
    --learning-rate 0.001 --monitor 0 --record run.json >out
python3 - <<'END_PY'
import json
r = json.load(open('run.json'))
x = r['result']
print('loss below a tenth:', x['loss_last'] < 0.1 * x['loss_first'])
print('held out:', x['held_out'], 'chance:', x['chance'])
print('accuracy over twice that:', x['accuracy'] > 2 * x['chance'])
print('rows:', len(r['series']['loss']), 'validations:', len(r['validations']))
END_PY
grep -c 'Held-out accuracy .* of .* samples (chance: 25.0 %)' out
