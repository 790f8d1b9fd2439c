# The record says what the machine did, and when the runs and batches were;
# 0 switches it off, and then the runs are still placed in time.
command -v python3 >/dev/null || {
    echo "no python3 to read JSON with" >&2
    exit 77
}
weir gen caltech101 set --samples 60 --classes 4 --quiet >/dev/null
weir bench set -r 3 -b 4 --accelerator ms=5 --no-limits --monitor 50 -o run.json >/dev/null
weir bench set -r 2 -b 16 --no-limits --monitor 0 -o off.json >/dev/null
python3 - <<'END'
import json

r, off = json.load(open('run.json')), json.load(open('off.json'))
m = r['monitor']
assert m['hz'] == 50 and m['merged'] == 1 and m['cpu_s'] > 0, m
columns = ['cpu_process_cores', 'cpu_machine_cores', 'cpu_iowait_cores',
           'rss_bytes', 'page_cache_bytes', 'dirty_bytes', 'asked_bytes_per_s',
           'device_read_bytes_per_s', 'device_write_bytes_per_s',
           'major_faults_per_s']
assert sorted(m['machine']) == sorted(columns + ['t_s'])
rows = len(m['machine']['t_s'])
assert rows > 1 and all(len(c) == rows for c in m['machine'].values())
assert all(isinstance(b, int) for b in m['machine']['rss_bytes'])
for d in m['disks']:
    assert len(d['busy']) == rows and max(d['busy']) <= 1, d
    assert sorted(d) == sorted(['name', 't_s', 'reads_per_s', 'writes_per_s',
                                'read_bytes_per_s', 'write_bytes_per_s',
                                'queue', 'busy'])
sizes = r['dataset']['sizes']
assert sum(b['count'] for b in sizes) == 60
assert sum(b['bytes'] for b in sizes) == r['dataset']['bytes']
assert all(b['from'] * 2 == b['to'] for b in sizes if b['from'])
runs = r['cases'][0]['runs']
assert 'batch_times' not in runs[0] # the warm-up
for run in runs[1:]:
    b = run['batch_times']
    assert b['merged'] == 1 and len(b['t_ms']) == run['batches'] == 15
    assert b['gap_ms'][0] is None and len(b['gap_ms']) == 15
    # A late wake-up may shorten the next gap, but not the run.
    t = b['t_ms']
    assert all(t[k] - t[0] >= 5 * k - 0.05 for k in range(15)), t
    assert len(b['wait_ms']) == 15 and b['t_ms'] == sorted(b['t_ms'])
starts = [run['start_s'] for run in runs]
assert starts == sorted(starts) and starts[0] >= 0, starts
assert starts[-1] + runs[-1]['seconds'] <= m['machine']['t_s'][-1] + 0.1
assert 'monitor' not in off
assert off['cases'][0]['runs'][1]['start_s'] > 0
END
