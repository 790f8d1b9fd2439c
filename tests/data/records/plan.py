# plan.py - records of weir plan, made by docs/formats/record.md.
# SPDX-License-Identifier: Apache-2.0
#
# Kinds: a node of eight accelerators whose cores are short; the same data as
# PNG and as tensors; one worker and one accelerator; a cluster; the times of a
# foreign training with a stall every fourth batch.

SAMPLE = 113000
BATCH = 256


def life(workers, accelerators, read, decode, compute, batches, name,
         prefetch=2, save_every=0):
    """Lanes of a loader whose workers take batches in turns."""
    lanes = ['worker %d' % (i + 1) for i in range(workers)] + ['queue']
    lanes += [name if accelerators == 1 else '%s %d' % (name, i + 1)
              for i in range(accelerators)]
    if save_every:
        lanes.append('saves')
    spans = []
    free = [0.0] * workers
    busy = [0.0] * accelerators
    taken = []  # when each batch left the queue
    for b in range(batches):
        w, a = b % workers, b % accelerators
        # A worker keeps `prefetch` batches ahead, and waits for room.
        ahead = b - workers * prefetch
        start = max(free[w], taken[ahead] if ahead >= 0 else 0)
        if start > free[w]:
            spans.append([free[w], start, w, b, 'wait'])
        spans.append([start, start + read, w, b, 'read'])
        ready = start + read + decode
        if decode:
            spans.append([start + read, ready, w, b, 'decode'])
        free[w] = ready
        begin = max(ready, busy[a])
        if begin > ready:
            spans.append([ready, begin, workers, b, 'queued'])
        if begin > busy[a]:
            spans.append([busy[a], begin, workers + 1 + a, b, 'wait'])
        busy[a] = begin + compute
        spans.append([begin, busy[a], workers + 1 + a, b, 'compute'])
        if save_every and b % save_every == save_every - 1:
            spans.append([busy[a], busy[a] + 30, len(lanes) - 1, b, 'save'])
            busy[a] += 30
        taken.append(begin)
    return {'lanes': lanes,
            'spans': [[round(s[0], 3), round(s[1], 3)] + s[2:] for s in spans]}


def epochs(steps, step, waits):
    out = []
    for i, (storage, cores) in enumerate(waits):
        parts = {'computing': steps * step, 'storage': storage,
                 'cores': cores, 'others': 1.4, 'saves': 6.0 if i else 0}
        seconds = sum(parts.values())
        out.append({'seconds': seconds, 'steps': steps,
                    'samples_per_s': 8 * BATCH * steps / seconds,
                    'parts': parts})
    return out


def facts(**changes):
    known = {'step_s': (0.218, 'table of accelerators: V100, fp16, ResNet-50'),
             'sample_bytes': (SAMPLE, 'bench.json'),
             'cpu_s': (0.00097, 'bench.json: decoding alone'),
             'workers': (8, 'command line'),
             'storage': ('nvme', 'probe.json')}
    assumed = {'prefetch': (2, "PyTorch's default"),
               'all-reduce': (0.004, 'ring of 8 at 100 Gb/s'),
               'node_mtbf_s': (2592000, 'a failure a month')}
    out = []
    for values, is_assumed in ((known, False), (assumed, True)):
        for key, (value, source) in values.items():
            out.append({'key': key, 'value': changes.get(key, value),
                        'source': source, 'assumed': is_assumed})
    return out


CHANGES = [
    ('workers', 'twice as many workers', '--workers 16', 1.41),
    ('fast decode', 'decode at a lower resolution', '--decode fast', 1.33),
    ('tensors', 'store decoded tensors', 'weir convert --to tensor', 1.45),
    ('prefetch', 'keep four batches ahead', '--prefetch 4', 1.02),
    ('nvme', 'a storage as fast as nvme', None, 1.0),
    ('tfrecord', 'TFRecord files in place of single files',
     'weir convert --to tfrecord', 0.985)]


def capacity(limit, target):
    points = []
    for n in (1, 2, 4, 8, 16, 20, 22, 23, 24, 25, 32):
        busy = min(0.985, 0.985 * limit / n * 0.93)
        points.append({'accelerators': n, 'utilization': busy,
                       'samples_per_s': n * 1174 * busy})
    fed = max([p['accelerators'] for p in points
               if p['utilization'] >= target], default=0)
    return {'target': target, 'accelerators': fed, 'unlimited': False,
            'points': points}


def plan(record, rng, scale=1.0, form='JPEG'):
    read, decode = {'JPEG': (40, 210), 'PNG': (95, 420),
                    'tensor': (170, 0)}[form]
    steps, step = 626, 0.218
    waits = [(31.0, 52.0), (9.0, 54.5), (8.8, 54.0)]
    if form == 'PNG':
        waits = [(60.0, 161.0), (31.0, 160.0), (30.0, 162.0)]
    if form == 'tensor':
        waits = [(44.0, 0), (2.0, 0), (2.0, 0)]
    all_epochs = epochs(steps, step, waits)
    seconds = sum(e['seconds'] for e in all_epochs)
    busy = 3 * steps * step / seconds
    rate = scale * 8 * BATCH * steps * 3 / seconds
    first = 'bandwidth' if form == 'tensor' else 'cores'
    last = 'cores' if form == 'tensor' else 'bandwidth'
    record.update(
        inputs=[{'path': 'bench.json', 'kind': 'bench'},
                {'path': 'probe.json', 'kind': 'probe'}],
        config={'nodes': 1, 'accelerators': 8, 'accelerator': 'V100',
                'model': 'ResNet-50, ' + form, 'workers': 8, 'prefetch': 2,
                'batch': BATCH, 'style': 'in turns', 'storage': 'nvme'},
        facts=facts(sample_bytes={'JPEG': SAMPLE, 'PNG': 3 * SAMPLE,
                                  'tensor': 602112}[form]),
        bounds={'samples_per_s': rate * 1.02, 'utilization': busy * 1.02,
                'step_s': 8 * BATCH / rate, 'load_s': 1.9,
                'limits': [
                    {'resource': first, 'samples_per_s': rate * 1.02},
                    {'resource': 'accelerators', 'samples_per_s': 9394},
                    {'resource': last, 'samples_per_s': 14800},
                    {'resource': 'requests', 'samples_per_s': 31000},
                    {'resource': 'in flight', 'samples_per_s': 41000}]},
        demand={'samples_per_s': 9394, 'bytes_per_s': 9394 * SAMPLE,
                'opens_per_s': 9394, 'cores': 11.1},
        capacity=capacity(24.4, 0.9),
        result={'seconds': seconds, 'samples_per_s': rate,
                'steady_per_s': rate * 1.03, 'utilization': busy,
                'first_batch_s': 1.95, 'storage_busy': 0.44,
                'cores_busy': 0.97, 'epochs': all_epochs,
                'saves': {'count': 4, 'blocked': 1, 'stall_s': 3.0,
                          'durable_s': 11.2},
                'lumped': False, 'lumped_why': ''},
        what_if=[{'name': n, 'what': what, 'how': how,
                  'samples_per_s': rate * gain,
                  'utilization': min(0.99, busy * gain),
                  'epoch_s': seconds / 3 / gain, 'gain': gain}
                 for n, what, how, gain in CHANGES],
        saving={'mtbf_s': 2592000, 'young_s': 3944, 'daly_s': 3941,
                'chosen_s': 1200, 'stall_s': 3.0, 'restore_s': 14,
                'lost_s': 734, 'waste': 0.0031, 'waste_best': 0.0018},
        life=life(4, 2, read, decode, 218 / 2, 10, 'V100', save_every=8),
        scale=[], explain=None,
        step_ms=[round(218 * rng.uniform(1, 1.02)
                       + (900 if i % 97 == 0 else 70 * (i % 4 == 0)), 2)
                 for i in range(400)])
    return record


def plan_one(record, rng):
    """One worker and one accelerator: they take turns to wait."""
    plan(record, rng)
    record['config'].update(accelerators=1, workers=1, prefetch=1)
    record['life'] = life(1, 1, 40, 210, 218, 6, 'V100', prefetch=1)
    record.update(capacity=None, saving=None, what_if=[], step_ms=[])
    return record


def plan_scale(record, rng):
    plan(record, rng)
    record['config'].update(nodes=1000, storage='lustre')
    record['life'] = None
    record['result'].update(lumped=True,
                            lumped_why='all nodes are alike and share evenly')
    record['scale'] = []
    for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000):
        rate = 6100.0 * n / (1 + (n / 160.0) ** 2.2) ** (1 / 2.2)
        record['scale'].append({'nodes': n, 'samples_per_s': rate,
                                'utilization': 0.65 * rate / 6100 / n})
    return record


def plan_explain(record, rng):
    """Seed 002: batch, ms."""
    seen = [1040, 43, 89, 29, 1025, 37, 23, 90, 1053, 31, 21]
    record.update(
        inputs=[{'path': 'log.csv', 'kind': 'batch times'}], facts=[],
        explain={
            'cause': 'workers take turns', 'period': 4, 'phase': 917 % 4,
            'usual_ms': 34, 'stall_ms': 1006, 'lost_share': 0.875,
            'sure': 0.9, 'load_ms': 1156, 'workers_needed': 35,
            'what': 'Every 4th batch takes about 1.0 s, the others 34 ms',
            'why': 'Four workers load a batch each at the same time, and '
                   'training uses up all four in a moment',
            'change': 'At least 35 workers, or batches that load faster',
            'batches': list(range(917, 917 + len(seen))), 'ms': seen})
    return record
