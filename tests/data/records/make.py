# make.py - records for tests of weir report, made by docs/formats/record.md.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: make.py bench|ckpt|plan|plan-png|plan-tensor|plan-one|plan-scale|
#        plan-explain|probe|replay|run|run-search|run-slow|study|trace|train
#        [--seed N] [--scale X] [--runs N] [--threads 1,2]
#        [--prefetch 0,2] [--batches N] [--no-monitor] [--kernel TEXT]
#        [--ranks N] [--vary] [--alone]
#        [--distinct] [--elsewhere] [--emulated [PROFILE]]
# The same arguments give the same record. Rates are `scale` times as high.
# --vary: each case of bench has settings of its own. --alone: train without the
# comparison. --elsewhere: under other conditions. --emulated: bench of an emulated
# disk. --distinct: short lists, and all numbers differ (distinct.py).
import argparse
import json
import random
import sys

sys.dont_write_bytecode = True # nothing is left in the source tree

from ckpt import ckpt
from distinct import distinct, elsewhere
from plan import plan, plan_explain, plan_one, plan_scale
from replay import replay
from run import run, run_search, run_slow
from study import study
from trace import trace
from train import train


def columns(rng, names, rows, step):
    out = {'t_s': [round((i + 1) * step, 3) for i in range(rows)]}
    for name, level in names.items():
        out[name] = [round(level * rng.uniform(0.5, 1.5), 3)
                     for _ in range(rows)]
    return out


def monitor(rng, rows):
    machine = columns(rng, {
        'cpu_process_cores': 1.5, 'cpu_machine_cores': 1.8,
        'cpu_iowait_cores': 0.2, 'rss_bytes': 80e6, 'page_cache_bytes': 4e9,
        'dirty_bytes': 1e6, 'asked_bytes_per_s': 9e7,
        'device_read_bytes_per_s': 1e8, 'device_write_bytes_per_s': 0,
        'major_faults_per_s': 0.1}, rows, 0.1)
    machine['cpu_iowait_cores'][rows // 2] = None
    disk = columns(rng, {
        'reads_per_s': 900, 'writes_per_s': 3, 'read_bytes_per_s': 1e8,
        'write_bytes_per_s': 2e5, 'queue': 3, 'busy': 0.5}, rows, 0.1)
    return {'hz': 10, 'merged': 1, 'cpu_s': 0.01, 'machine': machine,
            'disks': [dict(name='sda', **disk)]}


def head(args, command):
    return {
        'schema': 'weir-record', 'version': 1, 'command': command,
        'time': '2026-01-0%dT10:00:00Z' % (args.seed % 9 + 1), 'weir': '0.1.0',
        'host': {'name': 'host', 'kernel': args.kernel, 'cpu': 'A processor',
                 'cores': 2, 'memory_bytes': 8 << 30,
                 'file_system': {'type': 'ext4', 'source': '/dev/sda1',
                                 'device': 'sda', 'model': 'DISK',
                                 'rotational': 0}}}


def batch_times(rng, batches, ms):
    t, out = 0, {'t_ms': [], 'wait_ms': [], 'gap_ms': [], 'merged': 1}
    for i in range(batches):
        gap = ms * rng.uniform(0.9, 1.1) * (20 if i % 40 == 30 else 1)
        t += gap
        out['t_ms'].append(round(t, 3))
        out['gap_ms'].append(round(gap, 3))
        out['wait_ms'].append(round(gap * 0.4, 3))
    return out


def bench_run(args, rng, threads, prefetch, start):
    samples = args.batches * 32
    rate = 1000 * args.scale * threads ** 0.8 * (1.3 if prefetch else 1)
    rate *= rng.uniform(0.99, 1.01)
    seconds = samples / rate
    wait = seconds * (0.2 if prefetch else 0.5)
    return {
        'seconds': seconds, 'samples': samples, 'batches': args.batches,
        'bytes': samples * 112000, 'samples_per_s': rate,
        'bytes_per_s': rate * 112000, 'requests': samples,
        'in_force': {'threads': threads, 'depth': 8, 'prefetch': prefetch},
        'cpu_s_per_1000': 1.2 * rng.uniform(0.9, 1.1),
        'peak_bytes': 90000000, 'first_batch_ms': 40 * rng.uniform(0.9, 1.1),
        'gap_p50_ms': 32e3 / rate, 'gap_p99_ms': 64e3 / rate, 'resident': 0.0,
        'cache': dict.fromkeys(('ram_hits', 'dir_hits', 'misses', 'damaged',
                                'ram_bytes', 'dir_bytes'), 0),
        'io': 'io_uring', 'verdict': 'storage-bound',
        'decode_limit_per_s': 0, 'read_limit_per_s': 0,
        'read_limit_threads': 0, 'slot_limit_per_s': 0,
        'times': {'storage_wait_s': seconds * 0.6, 'submit_s': seconds * 0.05,
                  'decode_s': seconds * 0.2, 'resample_s': seconds * 0.1,
                  'idle_s': seconds * 0.05, 'consumer_wait_s': wait,
                  'consumer_busy_s': seconds - wait},
        'start_s': start,
        'batch_times': batch_times(rng, args.batches, 32e3 / rate)}


def bench_ranks(count, run):
    """What each of several ranks had of a run."""
    return [{'rank': i, 'host': 'node%d' % i,
             'seconds': run['seconds'] * (1 - 0.01 * i),
             'samples': run['samples'] // count,
             'bytes': run['bytes'] // count, 'peak_bytes': 90000000 + i,
             'samples_per_s': run['samples_per_s'] / count,
             'verdict': ('storage-bound', 'decode-bound')[i % 2]}
            for i in range(count)]


def vary(settings, k):
    settings.update(stages=('read', 'decode', 'full')[k % 3], depth=4 * k,
                    page_cache=('warm', 'cold')[k % 2], batch=16 + k,
                    decode=('fast', 'exact')[k // 2 % 2], crop='%dx%d' % (k, k))


def bench(args, rng):
    record = head(args, 'bench')
    record['dataset'] = {
        'url': 'photos', 'format': 'images', 'samples': 6400,
        'bytes': 6400 * 112000, 'files': 6400, 'classes': 10,
        'index_problems': 0, 'ignored_files': 0,
        'sizes': [{'from': 65536, 'to': 131072, 'count': 4000, 'bytes': 4e8},
                  {'from': 131072, 'to': 262144, 'count': 2400,
                   'bytes': 3e8}]}
    if args.emulated:
        record['dataset']['url'] = f'emu:{args.emulated}:photos'
    record['consumer_ms'] = 10.0
    record['cases'] = []
    start = 0.0
    for prefetch in args.prefetch:
        for threads in args.threads:
            runs = []
            for _ in range(args.runs + 1):
                runs.append(bench_run(args, rng, threads, prefetch, start))
                start += runs[-1]['seconds']
            rates = sorted(r['samples_per_s'] for r in runs[1:])
            record['cases'].append({
                'settings': {'stages': 'decode', 'page_cache': 'cold',
                             'threads': threads, 'depth': 8,
                             'prefetch': prefetch, 'batch': 32,
                             'flip': False},
                'result': {'samples_per_s': rates[len(rates) // 2],
                           'samples_per_s_min': rates[0],
                           'samples_per_s_max': rates[-1],
                           'of_decode_limit': 0, 'of_read_limit': 0.5,
                           'of_slot_limit': 0, 'verdict': 'storage-bound',
                           'starved': False},
                'warm_up_runs': 1, 'runs': runs, 'bad_count': 0, 'bad': []})
            if args.vary:
                vary(record['cases'][-1]['settings'], len(record['cases']))
            if args.ranks:
                record['cases'][-1]['ranks'] = bench_ranks(args.ranks, runs[1])
    return record


def latency(us):
    return {'mean': us * 1.1, 'p50': us, 'p95': us * 2, 'p99': us * 4,
            'p999': us * 9, 'max': us * 30}


def probe_test(args, rng, settings):
    op, pattern, block, depth, direct = settings
    name = {'files': 'small files', 'create': 'create files',
            'sync': 'sync'}.get(op) or '%s %s' % (pattern, op)
    if block:
        name += ' %d KiB' % (block // 1024)
    name += ', depth %d' % depth + (', direct' if direct else '')
    test = {'name': name, 'op': op, 'pattern': pattern, 'block': block,
            'depth': depth, 'workers': 1, 'direct': direct}
    if op == 'sync' and direct:
        return dict(test, skipped='no O_DIRECT here')
    ops = args.scale * 5000 * min(depth, 8) / (1 + block / 65536)
    test['runs'] = []
    for k in range(args.runs):
        now = ops * rng.uniform(0.98, 1.02) * (0.5 if k == 0 else 1)
        run = {'seconds': 2.0, 'bytes': int(now * 2 * (block or 65536)),
               'ops': int(now * 2), 'bytes_per_s': now * (block or 65536),
               'ops_per_s': now, 'cpu_s': 0.1, 'resident': 0.0,
               'start_s': 2.0 * k, 'latency_us': latency(1e6 * depth / now)}
        if op in ('files', 'create'):
            run.update(open_us=latency(20), transfer_us=latency(90),
                       close_us=latency(5))
        test['runs'].append(run)
    rates = sorted(r['ops_per_s'] for r in test['runs'])
    middle = rates[len(rates) // 2]
    test['result'] = {'bytes_per_s': middle * (block or 65536),
                      'ops_per_s': middle, 'ops_per_s_min': rates[0],
                      'ops_per_s_max': rates[-1], 'cpu_s_per_gb': 0.3}
    return test


def probe(args, rng):
    tests = [('read', 'sequential', 1 << 20, 8, True),
             ('write', 'sequential', 1 << 20, 8, True)]
    tests += [('read', 'random', block, depth, True)
              for block in (4096, 131072) for depth in (1, 8, 32)]
    tests += [('files', 'random', 0, 1, False),
              ('create', 'random', 0, 1, False),
              ('sync', 'sequential', 4096, 1, False),
              ('sync', 'sequential', 4096, 1, True)]
    record = head(args, 'probe')
    record.update(
        path='disk', file_bytes=1 << 30, small_files=1000, passes=args.runs,
        seconds=2.0, engine='io_uring',
        sizes={'name': 'imagenet', 'parts': [
            {'bytes': 65536, 'share': 0.6}, {'bytes': 131072, 'share': 0.4}]},
        cache={'direct': True, 'dropped': True, 'resident': 0.0,
               'below': True, 'signs': 'the first pass was slower'},
        tests=[probe_test(args, rng, t) for t in tests],
        saturation=[{'op': 'read', 'pattern': 'random', 'block': 4096,
                     'direct': True, 'workers': 1, 'depth': 8,
                     'reached': True, 'ops_per_s': 40000 * args.scale,
                     'bytes_per_s': 40000 * 4096 * args.scale}])
    return record


def made(words):
    """The record of these arguments."""
    numbers = lambda text: [int(v) for v in text.split(',')]
    p = argparse.ArgumentParser()
    p.add_argument('kind', choices=['bench', 'ckpt', 'plan', 'plan-png',
                                    'plan-tensor', 'plan-one', 'plan-scale',
                                    'plan-explain', 'probe', 'replay', 'run',
                                    'run-search', 'run-slow', 'study', 'trace',
                                    'train'])
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--scale', type=float, default=1.0)
    p.add_argument('--runs', type=int, default=4)
    p.add_argument('--threads', type=numbers, default=[1, 2])
    p.add_argument('--prefetch', type=numbers, default=[0, 2])
    p.add_argument('--batches', type=int, default=50)
    p.add_argument('--no-monitor', action='store_true')
    p.add_argument('--kernel', default='Linux 6.1')
    p.add_argument('--ranks', type=int, default=0)
    p.add_argument('--emulated', metavar='PROFILE', nargs='?', const='hdd')
    p.add_argument('--set', metavar='KEY=VALUE',
                   help='one setting, of all cases')
    for switch in ('--vary', '--alone', '--distinct', '--elsewhere'):
        p.add_argument(switch, action='store_true')
    args = p.parse_args(words)
    rng = random.Random(args.seed)
    record = {'bench': lambda: bench(args, rng),
              'ckpt': lambda: ckpt(head(args, 'ckpt'), rng, args.scale),
              'plan': lambda: plan(head(args, 'plan'), rng, args.scale),
              'plan-png': lambda: plan(head(args, 'plan'), rng, form='PNG'),
              'plan-tensor': lambda: plan(head(args, 'plan'), rng,
                                          form='tensor'),
              'plan-one': lambda: plan_one(head(args, 'plan'), rng),
              'plan-scale': lambda: plan_scale(head(args, 'plan'), rng),
              'plan-explain': lambda: plan_explain(head(args, 'plan'), rng),
              'probe': lambda: probe(args, rng),
              'replay': lambda: replay(head(args, 'replay'), rng, args.scale),
              'run': lambda: run(head(args, 'run'), rng, args.scale),
              'run-search': lambda: run_search(head(args, 'run'), rng),
              'run-slow': lambda: run_slow(head(args, 'run'), rng),
              'study': lambda: study(head(args, 'study'), rng),
              'trace': lambda: trace(head(args, 'trace'), rng),
              'train': lambda: train(head(args, 'train'), rng)}[args.kind]()
    if not args.no_monitor and not args.kind.startswith(('study', 'plan')):
        record['monitor'] = monitor(rng, 40)
    if args.set:
        key, value = args.set.split('=')
        for settings in [c['settings'] for c in record.get('cases', ())
                         if 'settings' in c] or [record.get('config', record)]:
            settings[key] = json.loads(value) if value[0].isdigit() else value
    if args.alone:
        del record['compare']
    if args.distinct:
        record = distinct(record)
    return elsewhere(record) if args.elsewhere else record


if __name__ == '__main__':
    json.dump(made(sys.argv[1:]), sys.stdout, indent=1)
    print()
