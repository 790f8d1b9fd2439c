# trace.py - a record as weir report makes it of a large trace.
# SPDX-License-Identifier: Apache-2.0
ATTACK = ('/data/</script><script>window.hacked=1</script>'
          '<img src=x onerror="window.hacked=2">\x1b[31m\u202e.jpg')
LANES, BINS, STEP = 64, 300, 2.5


def finding(code, seconds, risk):
    return {'code': code, 'title': 'reads are small ' + ATTACK,
            'what': 'Files are read in small pieces. ' + ATTACK,
            'evidence': '99 % of reads ask for 8,192 bytes.',
            'change': "open(path, 'rb', buffering=1 << 20)", 'sure': 'likely',
            'seconds': seconds, 'run_seconds': 3 * seconds, 'gain': seconds * 0.8, 'once': False,
            'risk': risk, 'examples': [
                {'at_s': 1.5 * k, 'path': ATTACK, 'detail': f'{k} ms'}
                for k in range(3)]}


def lane(rng, k):
    born = 0 if k < 4 else (k // 16) * 75
    life = BINS if k < 4 else 75
    return {'pid': 1000 + k // 2, 'tid': 1000 + k // 2 + k % 2 * 500,
            'job': ('main', 'other')[k % 2] if k < 4 else 'worker',
            'program': ATTACK if k == 3 else '/usr/bin/python3',
            'rank': -1 if k else 0,
            'busy': [round(rng.uniform(0, 100), 1)
                     if born <= i < born + life else None
                     for i in range(BINS)]}


def sizes(rng):
    edges = [100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20,
             100 << 20, 1 << 30, -1]
    return [{'to_bytes': e, 'count': rng.randrange(1000),
             'bytes': rng.randrange(1 << 30), 'seconds': rng.uniform(0, 9)}
            for e in edges]


def latency(rng, call):
    return {'call': call, 'count': 123456, 'total_s': 12.3, 'p50_s': 0.00012,
            'p99_s': 0.0031, 'p999_s': 0.02, 'max_s': 1.2,
            'below': [[2.0 ** k * 1e-9, rng.randrange(1, 100000)]
                      for k in range(10, 31)]}


def spans(count, **more):
    step = BINS * STEP / count
    return [dict(from_s=k * step, to_s=(k + 1) * step, **more)
            for k in range(count)]


def trace(record, rng):
    times = [k * STEP * BINS / 400 for k in range(400)]
    record.update(
        run={'program': 'python3 train.py ' + ATTACK, 'seconds': BINS * STEP,
             'io_share': 0.62, 'process_share': 0.41, 'mains': 1,
             'workers': 60, 'workers_at_once': 16, 'processes': 64, 'ranks': 0,
             'events': 10 ** 6, 'lost_events': 12, 'lost_records': 7,
             'merged': 4, 'batches': 1200, 'batch_gap_s': 0.031,
             'left_out': 3, 'damage': 'cut off'},
        findings=[finding('D08', 31.5, False), finding('D15', 0, True)],
        data_set={'access': 'many files, read one request behind the other',
                  'files': 128000, 'file_bytes': 14 << 30,
                  'read_bytes': 42 << 30, 'unique_bytes': 14 << 30,
                  'reads': 900000, 'sequential': 890000, 'consecutive': 880000,
                  'opens': 384000, 'read_s': 420.5, 'metadata_s': 31.5,
                  'read_once': 1000, 'shared_files': 2000,
                  'device_bytes': 21 << 30, 'resident_bytes': 5 << 30,
                  'resident_of': 14 << 30, 'common': [
                      {'bytes': 65536, 'count': 600000},
                      {'bytes': 4096, 'count': 200000}]},
        over_time={'at_s': times, **{
            key: [round(rng.uniform(0, most), 1) for _ in times]
            for key, most in (('read_bytes_per_s', 9e8),
                              ('written_bytes_per_s', 1e8),
                              ('reads_per_s', 9000),
                              ('metadata_per_s', 4000))}},
        lanes={'bin_s': STEP, 'threads': 300,
               'list': [lane(rng, k) for k in range(LANES)]},
        read_heat={'bin_s': STEP, 'levels': [
            {'below_s': 2.0 ** (11 + k) * 1e-9,
             'reads': [rng.randrange(10 ** (4 - k // 6)) for _ in range(BINS)]}
            for k in range(24)]},
        latencies=[latency(rng, call) for call in
                   ('read (data set)', 'open', 'stat', 'write', 'sync')],
        read_sizes=sizes(rng), write_sizes=sizes(rng),
        epochs=spans(3, files=128000, read_bytes=14 << 30, reads=300000,
                     read_s=140.1),
        phases=spans(40, kind='train', read_bytes=1 << 30, written_bytes=0,
                     metadata=9000),
        saves=spans(3, bytes=2 << 30, write_s=2.1, sync_s=1.1, files=5,
                    waits=True, path=ATTACK),
        files=[{'path': f'{ATTACK}{k}', 'seconds': 1.5, 'opens': 3, 'reads': 9,
                'writes': 4, 'read_bytes': 9 << 20, 'written_bytes': 3 << 20}
               for k in range(20)])
    return record
