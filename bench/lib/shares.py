# shares.py - eight pipelines in one process, against one.
# SPDX-License-Identifier: Apache-2.0
import os
import statistics

from lib.report import Row

COUNT = 8
SUM_BAR, MOST = 0.90, 1.10
DEVICE = 'ssd'


def rates(session, data, pipelines):
    """Samples per second of all together, and the peak of memory."""
    tool = os.path.join(os.path.dirname(session.weir), 'bench', 'bench-shares')
    out = session.run([tool, f'emu:{DEVICE}:{data}', str(pipelines),
                       str(session.pick(20, 4, 0))], quiet=True)
    samples, peak = map(float, out.stdout.split())
    return samples, peak


def measure(session):
    data = session.pictures()
    ones, sums = [], []
    for _ in range(session.rounds(3, 1)):
        ones.append(rates(session, data, 1)[0])
        samples, peak = rates(session, data, COUNT)
        sums.append(samples)
    ratio = statistics.median(s / o for s, o in zip(sums, ones))
    return [Row(
        f'{COUNT} pipelines in one process on one emulated {DEVICE}, their '
        'rates together', f'{SUM_BAR:.2f} to {MOST:.2f} of one pipeline alone',
        f'{ratio:.3f}', SUM_BAR <= ratio <= MOST,
        [f'{statistics.median(sums):,.0f} samples/s together, one alone '
         f'{statistics.median(ones):,.0f}; {peak / 1e6:,.0f} MB resident at '
         'most'])]
