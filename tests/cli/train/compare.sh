# The input alone, computing alone and both, in one record and one sentence.
weir gen caltech101 set --samples 20 --classes 2 --quiet >/dev/null
weir train set --compare --accelerator ms=20 -b 4 -i 3 --rounds 2 --monitor 0 \
    -o run.json >out
grep -c '^ *\(input alone\|computing alone\|everything\) .*images/s' out
grep -o '^The input costs [0-9]* %' out | sed 's/[0-9]* %/N %/'
weir train set --compare --engine reference --size 67 --width 0.0625 -b 4 -i 2 \
    --rounds 1 --monitor 0 --json >cpu.json
python3 - <<'END_PY'
import json
for name in ('run', 'cpu'):
    r = json.load(open(name + '.json'))
    c = r['compare']
    print(c['rounds'], [0 < c[k]['min'] <= c[k]['images_per_s'] <= c[k]['max']
                        for k in ('input', 'synthetic', 'full')],
          r['result']['iterations'], len(r['saves']), len(r['validations']))
END_PY
for options in '--ckpt x' '--epochs 2' '--synthetic -i 2' '--accelerator none'; do
    code=0
    # shellcheck disable=SC2086
    weir train set --compare $options >out 2>err || code=$?
    echo "exit $code"
done
[ ! -e x ]
