# study.py - a record of weir study, made by docs/formats/record.md.
# SPDX-License-Identifier: Apache-2.0
DEVICES = {'hdd': (163, (1, 1.65, 1.95, 2.3)), 'ssd': (280, (1, 1.9, 3.1, 3.4)),
           'optane': (1603, (1, 1.9, 3.4, 5)), 'lustre': (1968, (1, 2, 4, 7.8))}
THREADS = ['1', '2', '4', '8']


def value(rng, v, limit=None, spread=0.03):
    out = {'median': round(v, 1),
           'low': round(v * (1 - spread * rng.random()), 1),
           'high': round(v * (1 + spread * rng.random()), 1)}
    if limit:
        out['limit'] = limit
    return out


def table1(rng):
    rows = [[name, read, round(read * rng.uniform(0.97, 1.03), 1)]
            for name, (read, _) in DEVICES.items()]
    return {'id': 'table1', 'title': 'Table I: the devices',
            'question': 'How fast are they?', 'unit': 'MB/s', 'x': 'device',
            'table': {'columns': '<device|>paper, read MB/s|>here, read MB/s',
                      'rows': rows + [['this disk', None, 2210.5]]},
            'verdict': 'holds', 'calibration': True,
            'conclusion': 'From 163 MB/s of the hard disk to 1,969 of Lustre.',
            'why': 'All within 3 % of the paper.'}


def fig4(rng):
    parts = []
    for name, (_, scale) in DEVICES.items():
        one = 60 if name == 'hdd' else 600
        here = [value(rng, min(one * s, 1300),
                      'cores' if one * s > 1300 else 'device') for s in scale]
        series = [{'name': 'here', 'role': 'measured', 'values': here},
                  {'name': 'paper', 'role': 'reference', 'values': [
                      round(one * s * 0.97, 1) for s in scale]},
                  {'name': 'possible', 'role': 'ceiling',
                   'values': [min(one * s * 1.02, 1300) for s in scale]}]
        if name == 'lustre':
            here[2] = None
        parts.append({'title': name, 'labels': THREADS, 'series': series})
    return {'id': 'fig4', 'title': 'Fig. 4: threads', 'unit': 'images/s',
            'question': 'Do more threads read faster?', 'x': 'threads',
            'parts': parts, 'verdict': 'cannot be seen here',
            'calibration': False,
            'conclusion': 'Two threads are almost twice as fast as one, and '
                          'Lustre scales best.',
            'why': 'From 4 threads on the 2 cores are the limit: 1,300 '
                   'images/s.'}


def fig6(rng):
    names = list(DEVICES)
    without = [322, 241, 222, 235]
    return {'id': 'fig6', 'title': 'Fig. 6: prefetching', 'unit': 'seconds',
            'question': 'Does prefetching hide the device?', 'x': 'device',
            'parts': [{'title': '8 threads', 'labels': names, 'series': [
                {'name': 'here, no prefetch', 'role': 'measured',
                 'values': [value(rng, v) for v in without]},
                {'name': 'here, prefetch', 'role': 'measured',
                 'values': [value(rng, 214, spread=0.01) for _ in names]},
                {'name': 'compute alone', 'role': 'ceiling',
                 'values': [213] * len(names)}]}],
            'verdict': 'holds', 'calibration': False,
            'conclusion': 'With prefetching all devices take the same time.',
            'why': 'With prefetching all are within 1 % of computing alone, '
                   '213 s.'}


def fig8(rng):
    lines = []
    for name in ('without prefetch', 'with prefetch'):
        x = list(range(60))
        y = [round((90 if i % 6 < 3 or 'with ' in name else 2)
                   * rng.uniform(0.9, 1.1), 1) for i in x]
        lines.append({'title': 'hdd, ' + name, 'x': 'seconds', 'y': 'MB/s',
                      'series': [{'name': 'read', 'x': x, 'y': y}],
                      'bands': [{'from': 0, 'to': 28, 'name': 'run 1'},
                                {'from': 30, 'to': 58, 'name': 'run 2'}]})
    return {'id': 'fig8', 'title': 'Fig. 8: reads over time', 'lines': lines,
            'question': 'When does it read?', 'verdict': 'does not hold',
            'conclusion': 'With prefetching reads lie closer and are higher.',
            'why': 'The rates are the same, 90 MB/s.'}


def study(record, rng):
    record.update(mode='quick', seconds=262.5, repeat=6, warm_up_runs=1,
                  data={'pictures': 256, 'bytes each': '112 KB',
                        'batch': 64},
                  figures=[table1(rng), fig4(rng), fig6(rng), fig8(rng)])
    return record
