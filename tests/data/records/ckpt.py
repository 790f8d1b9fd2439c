# ckpt.py - a record of weir ckpt bench, made by docs/formats/record.md.
# SPDX-License-Identifier: Apache-2.0
WAYS = [('slow', 'direct to slow', 4.1), ('fast', 'direct to fast', 0.83),
        ('burst', 'burst buffer', 0.87),
        ('async', 'burst buffer, async', 0.21)]
BYTES = 2470000000


def times(stall, way):
    slow = stall + {'slow': 0.02, 'fast': 0.01}.get(way, 3.9)
    fast = stall + 0.03 if way != 'async' else 1.1
    return {'stall_s': stall, 'blocked_s': stall * 0.13, 'fast_s': fast,
            'slow_s': slow, 'verified_s': slow + 1.7, 'drain_s': slow - fast}


def result(stall, way):
    return dict(times(stall, way), restore_s=1.9, stall_bytes_per_s=BYTES / stall,
                drain_bytes_per_s=BYTES / 3.3, restore_bytes_per_s=BYTES / 1.9)


def ckpt(record, rng, scale=1.0):
    cases, start = [], 0.4
    for way, name, stall in WAYS:
        runs = []
        for _ in range(4):
            runs.append(times(stall * rng.uniform(0.9, 1.1) / scale, way))
            runs[-1].update(saves_per_s=1 / runs[-1]['stall_s'], at_s=start)
            start += 5.3
        cases.append({
            'way': way, 'name': name, 'memory': BYTES, 'skipped': 0,
            'result': result(stall / scale, way), 'runs': runs,
            'ranks': [{'rank': i, 'host': 'node%d' % i, 'bytes': BYTES // 2,
                       'stall_s': stall * (0.9 + 0.1 * i)} for i in range(2)]})
    record.update(fast='/nvme/ckpt', slow='/lustre/ckpt', like='resnet50',
                  bytes=BYTES, tensors=483, saves=4, interval_s=5.0,
                  verify=True, memcpy_s=0.19, cases=cases, start_s=0.4)
    return record
