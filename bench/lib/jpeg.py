# jpeg.py - pictures to batches: against the decode limit, cold against warm.
# SPDX-License-Identifier: Apache-2.0
import statistics

from lib import weir
from lib.report import Row

OUTPUT = ('--size', '224x224', '--dtype', 'f32')
FIRST_BATCH_MS = 80


def limit_row(case, bar):
    ratio = case.of('decode_limit_per_s')
    return Row(
        f"JPEG tree to f32 batches, warm, {case.settings['decode']}",
        f'>= {bar:.2f} of decode limit', f'{ratio:.3f}', ratio >= bar,
        [f"{case.rate():,.0f} images/s; the limit "
         f"{case.median('decode_limit_per_s'):,.0f}; "
         f"{case.median('cpu_s_per_1000'):.2f} CPU s/1000; peak "
         f"{case.median('peak_bytes') / 1e6:.0f} MB", case.doubt()])


def cold_row(cold, warm):
    """Reading may be slower than decoding: then it is the read limit that
    nine tenths are asked of."""
    ratio = cold.of('samples_per_s', warm)
    allowed = min(1, cold.median('read_limit_per_s') / warm.rate())
    return Row(
        f"JPEG tree, cold cache, {cold.settings['decode']}",
        '>= 0.90 of warm', f'{ratio:.3f}', ratio >= 0.90 * allowed,
        [f"{cold.rate():,.0f} images/s; the read limit "
         f"{cold.median('read_limit_per_s'):,.0f}; every file was touched "
         'once before', cold.doubt()])


def first_batch_row(warm):
    ms = warm.median('first_batch_ms')
    return Row('time to the first batch, data set indexed, warm',
               f'< {FIRST_BATCH_MS} ms', f'{ms:.0f} ms', ms < FIRST_BATCH_MS)


def measure(session):
    data = session.pictures()
    session.touch(data)
    record = weir.bench(
        session, 'jpeg', data, *OUTPUT, '-t', session.cores, '--page-cache',
        'cold,warm', '--decode', 'exact,fast', '-r', session.rounds(6, 2))
    exact = record.find(page_cache='warm', decode='exact')
    fast = record.find(page_cache='warm', decode='fast')
    return [limit_row(exact, 0.85), limit_row(fast, 0.95),
            cold_row(record.find(page_cache='cold', decode='exact'), exact),
            cold_row(record.find(page_cache='cold', decode='fast'), fast),
            first_batch_row(exact)]


def measure_gaps(session):
    """Some hundred batches a run, so that a hundredth of them is a few."""
    record = weir.bench(
        session, 'even', session.pictures(), *OUTPUT, '-t', session.cores,
        '--no-limits', '--epochs', session.rounds(5, 1), '-r',
        session.rounds(4, 2))
    case = record.cases[0]
    ratio = statistics.median(r['gap_p99_ms'] / r['gap_p50_ms']
                              for r in case.runs)
    return [Row('evenness: p99 of the gaps between batches over p50',
                '<= 1.50', f'{ratio:.2f}', ratio <= 1.5,
                [f"p50 {case.median('gap_p50_ms'):.1f} ms, p99 "
                 f"{case.median('gap_p99_ms'):.1f} ms; "
                 f"{case.median('batches'):.0f} batches a run",
                 case.doubt()])]
