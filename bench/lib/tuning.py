# tuning.py - threads, depth and prefetch = auto, against the best of a sweep.
# SPDX-License-Identifier: Apache-2.0
import statistics

from lib import weir
from lib.report import Row

BAR = 0.95
AUTO = ('-t', 'auto', '-d', 'auto', '-p', 'auto')
FINALISTS = 2


def options_of(settings):
    return ('-t', settings['threads'], '-d', settings['depth'], '-p',
            settings['prefetch'])


def one(session, name, title, data, *options, depths='4,32,256',
        ahead='1,3'):
    """A sweep finds the best fixed settings; the best few and auto are then
    measured again in rounds, one after the other."""
    cores = session.cores
    sweep = weir.bench(
        session, f'auto-{name}-sweep', data, *options, '--no-limits', '-r', 2,
        '-t', session.pick(f'1,{cores},{2 * cores}', f'1,{cores}', '1'),
        '-d', '32' if session.quick else depths, '-p',
        '1' if session.quick else ahead).cases
    best = sorted(sweep, key=weir.Case.rate, reverse=True)[:FINALISTS]
    ratios, rates = [], []
    for k in range(session.rounds(5, 1)):
        rate = {}
        for i, fixed in enumerate([c.settings for c in best] + [None]):
            case = weir.bench(
                session, f'auto-{name}-{k}-{i}', data, *options, '--no-limits',
                '-r', 2, *(options_of(fixed) if fixed else AUTO)).cases[0]
            rate[i] = case.rate()
        rates.append(rate)
        ratios.append(rate[len(best)])
    top = max(range(len(best)),
              key=lambda i: statistics.median(r[i] for r in rates))
    ratio = statistics.median(r[len(best)] / r[top] for r in rates)
    chosen = case.runs[-1]['in_force']
    fixed = best[top].settings
    return Row(
        f'auto: {title}', f'>= {BAR:.2f} of the best fixed', f'{ratio:.3f}',
        ratio >= BAR,
        [f"chose {chosen['threads']} x {chosen['depth']}, prefetch "
         f"{chosen['prefetch']}; the best of the sweep: {fixed['threads']} x "
         f"{fixed['depth']}, prefetch {fixed['prefetch']}; "
         f'{statistics.median(ratios):,.0f} samples/s'])


def measure(session):
    pictures, tensors = session.pictures(), session.tensors()
    long = session.rounds(3, 1)
    return [
        one(session, 'jpeg', 'pictures, warm', pictures),
        one(session, 'tensors', 'tensors, warm', tensors, '--dtype',
            'u8', '--epochs', 3 * long),
        one(session, 'slow', 'reads that take 10 ms', f'fault:delay=10:{tensors}',
            '--dtype', 'u8', '--epochs', 2 * long, '--page-cache', 'asis',
            depths='32,128,512', ahead='1'),
    ]
