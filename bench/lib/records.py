# records.py - TFRecord shards: against plain sequential reads, and decoding.
# SPDX-License-Identifier: Apache-2.0
import glob
import os
import statistics

from lib import limit, weir
from lib.jpeg import OUTPUT
from lib.report import Row

READ_BAR, DECODE_BAR = 0.85, 0.85
# Warm, depth only spreads the bytes over more of the processor's cache.
SETTINGS = (('block', 8), ('block', 32), ('sequential', 8), ('shuffle', 4),
            ('shuffle', 8))


def shards(session):
    """The pictures as TFRecord, made once."""
    source = session.pictures()
    path = source + '-tfrecord'
    if not os.path.isdir(path):
        session.say('converting the pictures to TFRecord')
        session.run([session.weir, 'convert', source, path, '--to', 'tfrecord',
                     '--shard-size', '64MiB', '-q'])
    return path


def read(session, data, setting, name):
    order, depth = setting
    return weir.bench(session, f'records-read-{name}', data, '--stages',
                      'read', '--order', order, '-d', depth, '--no-limits',
                      '--epochs', session.rounds(8, 2), '-r', 3).cases[0]


def read_row(session, data):
    """One thread that does nothing but read all shards, one after the other,
    is the plain sequential read; as many threads as weir has say more."""
    files = sorted(glob.glob(os.path.join(data, '*.tfrecord')))
    session.warm(data)
    ratios, even, rates = [], [], []
    best = max(SETTINGS, key=lambda s: read(session, data, s, 'sweep')
               .median('bytes_per_s'))
    for k in range(session.rounds(7, 2)):
        one = limit.pread(session, 1, files)
        many = limit.pread(session, session.cores, files)
        case = read(session, data, best, k)
        rates.append(case.median('bytes_per_s'))
        ratios.append(rates[-1] / one)
        even.append(rates[-1] / many)
    ratio, same = statistics.median(ratios), statistics.median(even)
    return Row(
        'TFRecord, reading only, checksums verified, warm',
        f'>= {READ_BAR:.2f} of sequential pread', f'{ratio:.3f}',
        ratio >= READ_BAR,
        [f'{statistics.median(rates) / 1e9:.2f} GB/s in order {best[0]}, depth '
         f'{best[1]}, '
         f"{case.median('requests'):,.0f} requests for "
         f"{case.median('samples'):,.0f} samples; {same:.3f} of "
         f'{session.cores} threads of pread', case.doubt()])


def decode_row(session, data):
    record = weir.bench(session, 'records', data, *OUTPUT, '-t', session.cores,
                        '--order', 'block', '-r', session.rounds(6, 2))
    case = record.cases[0]
    ratio = case.of('decode_limit_per_s')
    return Row(
        'TFRecord of JPEGs to f32 batches, warm, exact',
        f'>= {DECODE_BAR:.2f} of decode limit', f'{ratio:.3f}',
        ratio >= DECODE_BAR,
        [f"{case.rate():,.0f} images/s; the limit "
         f"{case.median('decode_limit_per_s'):,.0f}; "
         f"{case.median('cpu_s_per_1000'):.2f} CPU s/1000; peak "
         f"{case.median('peak_bytes') / 1e6:.0f} MB", case.doubt()])


def measure(session):
    data = shards(session)
    return [read_row(session, data), decode_row(session, data)]
