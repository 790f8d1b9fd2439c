# Two tiers: what is saved to the fast one arrives on the slow one before the
# command ends; five steps are kept.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set 20 2
for level in snapshot fast slow verified; do
    weir train set --accelerator none --width 0.0625 --size 67 -b 4 -i 14 \
        --monitor 0 --ckpt "fast-$level" --slow "slow-$level" --level $level \
        --save-every 2 --json >run.json
    python3 - <<'END_PY'
import json
r = json.load(open('run.json'))
s = r['saves']
print(r['settings']['level'], r['result']['saves'], r['result']['saved_step'],
      all('slow_s' in x and 'verified_s' in x for x in s))
END_PY
    weir ckpt ls "slow-$level" | grep -c verified
done
