# prefetch.py - a consumer as slow as the pipeline, with and without prefetch.
# SPDX-License-Identifier: Apache-2.0
import statistics

from lib import jpeg, weir
from lib.report import Row

SLACK = 0.05


def one_round(session, data, number):
    """Totals as parts of what they ought to be: (prefetch 1, prefetch 0)."""
    common = (*jpeg.OUTPUT, '-t', session.cores, '--no-limits', '-r', 2)
    alone = weir.bench(session, f'prefetch-alone-{number}', data, *common,
                       '-p', 1).cases[0]
    pipeline_s = alone.median('seconds')
    batch_ms = 1000 * pipeline_s / alone.median('batches')
    both = weir.bench(session, f'prefetch-consumer-{number}', data, *common,
                      '-p', '0,1', '--consumer-ms', f'{batch_ms:.3f}')
    consumer_s = batch_ms / 1000 * alone.median('batches')
    return (both.find(prefetch=1).median('seconds')
            / max(pipeline_s, consumer_s),
            both.find(prefetch=0).median('seconds')
            / (pipeline_s + consumer_s), batch_ms)


def measure(session):
    data = session.pictures()
    rounds = [one_round(session, data, i) for i in range(session.rounds(5))]
    ahead, none, batch_ms = (statistics.median(v) for v in zip(*rounds))
    note = f'median of {len(rounds)} rounds; a batch takes {batch_ms:.1f} ms'
    return [Row('prefetch 1, consumer as slow as the pipeline: total',
                f'<= {1 + SLACK:.2f} x the longer', f'{ahead:.3f}',
                ahead <= 1 + SLACK, [note]),
            Row('prefetch 0, the same: total',
                f'{1 - SLACK:.2f} to {1 + SLACK:.2f} x the sum',
                f'{none:.3f}', abs(none - 1) <= SLACK)]
