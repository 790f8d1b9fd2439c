# tensors.py - raw tensors to batches: against plain pread threads.
# SPDX-License-Identifier: Apache-2.0
from lib import weir
from lib.report import Row

BAR = 0.80


def measure(session):
    record = weir.bench(
        session, 'tensors', session.tensors(), '--dtype', 'u8', '--normalize',
        'none', '-b', 64, '-t', f'{session.cores},{2 * session.cores}', '-r',
        session.rounds(11, 3))
    case = record.find(threads=session.cores)
    other = record.find(threads=2 * session.cores)
    ratio = case.of('read_limit_per_s')
    return [Row('raw u8 tensors to u8 batches, warm',
                f'>= {BAR:.2f} of pread threads', f'{ratio:.3f}',
                ratio >= BAR,
                [f"{case.rate():,.0f} samples/s on {session.cores} threads; "
                 f"pread {case.median('read_limit_per_s'):,.0f} on "
                 f"{case.median('read_limit_threads'):.0f}; with "
                 f"{2 * session.cores} threads weir has "
                 f"{other.of('read_limit_per_s'):.3f}", case.doubt()])]
