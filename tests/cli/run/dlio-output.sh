# The files that DLIO leaves, of two ranks: names, shapes, and the same numbers
# as the record has.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
ranks 2 weir run kit.yaml data --no-selftest --monitor 0 --record run.json \
    --dlio-output out metric.au=0.01 >text
wait # for rank 1
cat err
(cd out && find . -type f | LC_ALL=C sort)
cat out/dlio_config/overrides.yaml
python3 - <<'PYTHON'
import json
record = json.load(open('run.json'))
s = json.load(open('out/summary.json'))
m = s['metric']
assert (s['num_accelerators'], s['num_hosts'], s['epochs']) == (2, 1, 2), s
assert len(s['host_memory_GB']) == 1 and s['num_files_train'] == 12
assert len(m['train_au_percentage']) == 2
for e, au in zip(record['epochs'], m['train_au_percentage']):
    assert abs(100 * e['au_dlio'] - au) < 1e-3, (e, au)
assert m['train_au_meet_expectation'] == 'success'
assert len(m['eval_au_percentage']) == 2
for rank in (0, 1):
    o = json.load(open(f'out/{rank}_output.json'))
    t = json.load(open(f'out/{rank}_per_epoch_stats.json'))
    for epoch in '12':
        load = o[epoch]['load']['block1']
        assert len(load) == 12, load
        assert len(o[epoch]['proc']['eval']) == 4, o[epoch]['proc']
        assert sum(o[epoch]['compute']['block1']) > 0
        assert t[epoch]['start'] <= t[epoch]['block1']['start']
        float(t[epoch]['duration'])
try:
    import yaml
except ImportError:
    yaml = None
if yaml:
    c = yaml.safe_load(open('out/dlio_config/config.yaml'))['workload']
    assert c['dataset']['num_files_train'] == 12, c
    assert c['metric']['au'] == 0.01, c
    h = yaml.safe_load(open('out/dlio_config/hydra.yaml'))['hydra']
    assert h['overrides']['task'] == yaml.safe_load(
        open('out/dlio_config/overrides.yaml')), h
PYTHON
grep -c '^\[METRIC\] train_au' out/dlio.log
