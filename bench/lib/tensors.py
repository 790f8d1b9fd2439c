# tensors.py - raw tensors to batches: against plain pread threads.
# SPDX-License-Identifier: Apache-2.0
#
# The pread threads read every sample into the same small buffer, which stays
# in the second-level cache; a batch of 64 does not fit there. The note compares
# with pread threads that fill memory of the size of two batches as well.
from lib import weir
from lib.report import Row

BAR = 0.80


def measure(session):
    record = weir.bench(
        session, 'tensors', session.tensors(), '--dtype', 'u8', '--normalize',
        'none', '--epochs', 4, '-t', session.cores, '-r',
        session.rounds(12, 3))
    case = record.cases[0]
    ratio = case.of('read_limit_per_s')
    return [Row('raw u8 tensors to u8 batches, warm',
                f'>= {BAR:.2f} of pread threads', f'{ratio:.3f}',
                ratio >= BAR,
                [f"{case.rate():,.0f} samples/s on {session.cores} threads; "
                 f"pread {case.median('read_limit_per_s'):,.0f} on "
                 f"{case.median('read_limit_threads'):.0f}; "
                 f"{case.of('slot_limit_per_s'):.3f} of pread threads that "
                 f"fill memory of the size of two batches", case.doubt()])]
