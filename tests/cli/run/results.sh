# A run reads every sample of each epoch, evaluates, and says what it measured.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
kit --json --record run.json >out.json
for key in result.samples result.steps config.steps config.accelerators \
    loss.barrier epochs.1.samples; do
    echo "$key $(of $key <out.json)"
done
python3 - <<'PYTHON'
import json
r = json.load(open('run.json'))
assert abs(sum(r['loss'].values()) - 1) < 1e-6, r['loss']
assert 0 < r['result']['au'] <= 1
assert r['reads']['bytes'] >= 2 * 96 * 300, r['reads']
assert r['epochs'][0]['eval_s'] > 0
assert r['result']['seconds'] >= 48 * 0.001
PYTHON
kit >text
grep -c '^AU ' text
weir report run.json >report.txt
grep -c 'Where the time went' report.txt
# A target that is missed is told by the exit code, if that is asked for.
code=0
kit metric.au=1.0 train.computation_time=0.00001 --check >text || code=$?
echo "exit $code"
