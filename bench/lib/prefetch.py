# prefetch.py - a consumer as slow as the pipeline, with and without prefetch.
# SPDX-License-Identifier: Apache-2.0
#
# The two are measured in the run itself: the pipeline by the time its workers
# spent on reading, decoding and resizing, divided by their number; the
# consumer by the time between its calls. A run of the pipeline alone, seconds
# earlier or later, differs by more than the slack on a machine that is shared.
import statistics

from lib import jpeg, weir
from lib.report import Row

SLACK = 0.05


def parts(run, workers):
    """Seconds of the pipeline, and of the consumer."""
    t = run['times']
    work = (t['storage_wait_s'] + t['submit_s'] + t['decode_s']
            + t['resample_s'])
    return work / workers, t['consumer_busy_s']


def ratios(case, join):
    return statistics.median(
        run['seconds'] / join(parts(run, case.settings['threads']))
        for run in case.runs)


def measure(session):
    data = session.pictures()
    common = (*jpeg.OUTPUT, '-t', session.cores, '--no-limits')
    alone = weir.bench(session, 'prefetch-alone', data, *common, '-p', 1, '-r',
                       session.rounds(4, 2)).cases[0]
    batch_ms = 1000 * alone.median('seconds') / alone.median('batches')
    both = weir.bench(session, 'prefetch-consumer', data, *common, '-p', '0,1',
                      '--accelerator', f'ms={batch_ms:.3f}', '-r',
                      session.rounds(8, 3))
    ahead = ratios(both.find(prefetch=1), max)
    none = ratios(both.find(prefetch=0), sum)
    note = (f'a consumer of {batch_ms:.1f} ms per batch, as the pipeline alone; '
            f'both measured in the same run')
    return [Row('prefetch 1, consumer as slow as the pipeline: total',
                f'<= {1 + SLACK:.2f} x the longer', f'{ahead:.3f}',
                ahead <= 1 + SLACK, [note]),
            Row('prefetch 0, the same: total',
                f'{1 - SLACK:.2f} to {1 + SLACK:.2f} x the sum',
                f'{none:.3f}', abs(none - 1) <= SLACK)]
