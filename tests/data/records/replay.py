# replay.py - a record of weir probe --replay, made by docs/formats/record.md.
# SPDX-License-Identifier: Apache-2.0
OPERATIONS = [('open', 128000, 0, 21), ('stat', 64000, 0, 9),
              ('read', 913000, 14500000000, 130), ('write', 410, 2100000000, 900),
              ('sync', 12, 0, 48000)]


def times(us, count):
    return {'sum_s': us * count * 1.4 / 1e6, 'p50_us': us, 'p90_us': us * 2.2,
            'p99_us': us * 7.1, 'max_us': us * 41}


def replay(record, rng, scale=1.0):
    operations = []
    for name, count, size, us in OPERATIONS:
        operations.append({
            'operation': name, 'requests': count, 'bytes': size,
            'traced': times(us, count),
            'replayed': times(us * rng.uniform(0.3, 0.6) / scale, count)})
    record.update(
        replay_of='train.wtrace', path='emu:nvme:/data', device_profile='nvme',
        computed=True, traced_folder='/lustre/data', asap=True, threads=17,
        requests=sum(o['requests'] for o in operations),
        traced_io_s=sum(o['traced']['sum_s'] for o in operations),
        replayed_io_s=sum(o['replayed']['sum_s'] for o in operations),
        traced_span_s=310.5, replayed_span_s=72.25, missing=3, short=5,
        failed=7, left_out_writes=410, left_out_elsewhere=19,
        operations=operations)
    return record
