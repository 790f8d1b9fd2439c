# The record has what was asked, every test with its passes, and the host.
mkdir place
weir probe place --only seq,files,sync --depth 2 --threads 1 --passes 2 \
    --seconds 0.02 --file-size 16MiB --files 20 -o run.json >/dev/null
[ -z "$(ls -A place)" ]
python3 - <<'END'
import json
r = json.load(open('run.json'))
assert (r['schema'], r['version'], r['command']) == ('weir-record', 1, 'probe')
assert r['path'] == 'place' and 'device_profile' not in r and 'file' not in r
assert r['file_bytes'] == 16 << 20 and r['small_files'] == 20
assert r['passes'] == 2 and r['seconds'] == 0.02
assert r['engine'] in ('io_uring', 'blocking')
assert r['host']['kernel'] and r['host']['file_system']['type']
assert r['sizes']['name'] == 'imagenet'
assert abs(sum(p['share'] for p in r['sizes']['parts']) - 1) < 1e-9
assert set(r['cache']) == {'direct', 'dropped', 'resident', 'below', 'signs'}
assert len(r['monitor']['machine']['t_s']) > 0
names = [t['name'] for t in r['tests']]
assert len(set(names)) == len(names)
assert {t['op'] for t in r['tests']} == {'read', 'write', 'files', 'create',
                                         'sync'}
last = 0
for t in r['tests']:
    assert t['pattern'] in ('sequential', 'random')
    if 'skipped' in t:
        assert 'runs' not in t
        continue
    assert len(t['runs']) == 2
    low, high = t['result']['ops_per_s_min'], t['result']['ops_per_s_max']
    assert low <= t['result']['ops_per_s'] <= high
    for run in t['runs']:
        lat = run['latency_us']
        assert run['ops'] > 0 and run['start_s'] >= 0
        assert lat['p50'] <= lat['p95'] <= lat['p99'] <= lat['p999'] <= lat['max']
        assert ('open_us' in run) == (t['op'] in ('files', 'create'))
    assert t['runs'][0]['start_s'] < t['runs'][1]['start_s']
END
weir probe place --only random --block 4KiB -d 1,2,4 --passes 1 --seconds 0.02 \
    --file-size 16MiB --json >depths.json
python3 - <<'END'
import json
r = json.load(open('depths.json'))
for s in r['saturation']:
    assert s['reached'] == (s['depth'] < 4)
assert len(r['saturation']) == (0 if 'skipped' in r['tests'][0] else 1)
END
weir probe place --only sync --passes 1 --seconds 0.02 --json >printed.json
python3 -c 'import json; assert len(json.load(open("printed.json"))["tests"]) == 1'
