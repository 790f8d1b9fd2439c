# Tensors that are only converted are not called decoded, and the limit they are
# compared with converts them too.
command -v python3 >/dev/null || {
    echo "no python3 to read JSON with" >&2
    exit 77
}
weir gen tensors set --samples 600 --shape 64x64x3 --dtype u8 --quiet >/dev/null
weir bench set -r 3 -b 16 --dtype f32 --epochs 6 -t 1 -o run.json >text

python3 - <<'END'
import json

case = json.load(open('run.json'))['cases'][0]
verdict = case['result']['verdict']
assert verdict != 'decode-bound', case['result']
for run in case['runs'][1:]:
    t = run['times']
    assert t['decode_s'] * 10 < t['resample_s'], t
    # Nothing converts 12 KB to 49 KB in less than 200 ns.
    assert 0 < run['decode_limit_per_s'] < 5e6, run['decode_limit_per_s']
text = open('text').read()
assert 'pictures' not in text and 'Decode-bound' not in text, text
# A machine that is busy may make it wait for storage more than it works.
if verdict == 'convert-bound':
    assert 'Convert-bound: the workers converted or copied' in text, text
    assert 'Converting alone, from memory, reaches' in text, text
END
