# tiers.py - caches: against memcpy, their budget, against the fast folder.
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import statistics

from lib import limit, weir
from lib.report import Row

COPY_BAR, FOLDER_BAR, BUDGET_PART = 0.80, 0.95, 0.01
SIDE = 224
DELAY_MS = 20


def copy_row(session):
    """u8 tensors, so that a sample is a small copy: the harder case."""
    data = session.pictures()
    one = SIDE * SIDE * 3
    ratios, rates, limits = [], [], []
    for k in range(session.rounds(5, 2)):
        record = weir.bench(
            session, f'cache-ram-{k}', data, '--size', SIDE, '--dtype', 'u8',
            '--cache', 'ram:4GiB', '--cache-what', 'decoded',
            '--epochs', session.rounds(4, 3), '--no-limits', '-r', 2)
        case = record.cases[0]
        samples = case.median('samples') / case.settings['epochs']
        limits.append(limit.copy(session, session.cores, one, int(samples),
                                 session.batch))
        rates.append(case.median('last_epoch_per_s'))
        ratios.append(rates[-1] / limits[-1])
    ratio = statistics.median(ratios)
    return Row(
        'cache of decoded samples in memory, later epochs',
        f'>= {COPY_BAR:.2f} of memcpy into the batch', f'{ratio:.3f}',
        ratio >= COPY_BAR,
        [f'{statistics.median(rates):,.0f} samples/s; memcpy by '
         f'{session.cores} threads {statistics.median(limits):,.0f}',
         case.doubt()])


def peak(session, name, *options):
    record = weir.bench(session, name, session.pictures(), '--size', SIDE,
                        '--epochs', 2, '--no-limits', '-r', 2,
                        *options)
    return record.cases[0]


def budget_row(session):
    """Memory the process has with the cache, less what it has without."""
    budget = session.pick(512, 64, 4) << 20
    without = peak(session, 'cache-none')
    case = peak(session, 'cache-budget', '--cache', f'ram:{budget}',
                '--cache-what', 'decoded')
    held = case.runs[-1]['cache']['ram_bytes']
    grown = case.median('peak_bytes') - without.median('peak_bytes')
    off = max(abs(held - budget), grown - budget) / budget
    return Row(
        'the same, budget', f'within {BUDGET_PART:.0%}', f'{off:.2%}',
        off <= BUDGET_PART,
        [f'budget {budget / 1e6:.1f} MB, held {held / 1e6:.1f} MB, the '
         f'process grew by {grown / 1e6:.1f} MB'])


def folder_row(session):
    """A slow device: every read takes some milliseconds more. The second
    epoch comes from the folder; the same data read there directly."""
    data = session.pictures()
    tier = os.path.join(session.data, 'tier')
    ratios, rates, slow = [], [], []
    output = ('--size', SIDE, '--dtype', 'f32', '--no-limits',
              '--epochs', 2, '-r', 2, '--page-cache', 'asis')
    session.warm(data)
    for k in range(session.rounds(4, 1)):
        shutil.rmtree(tier, ignore_errors=True)
        os.makedirs(tier)
        tiered = weir.bench(session, f'cache-dir-{k}',
                            f'fault:delay={DELAY_MS}:{data}', *output,
                            '--cache', f'{tier}:8GiB').cases[0]
        direct = weir.bench(session, f'cache-dir-fast-{k}', data,
                            *output).cases[0]
        rates.append(tiered.median('last_epoch_per_s'))
        ratios.append(rates[-1] / direct.median('last_epoch_per_s'))
    shutil.rmtree(tier, ignore_errors=True)
    ratio = statistics.median(ratios)
    return Row(
        'folder tier before a slow device, second epoch',
        f'>= {FOLDER_BAR:.2f} of the fast folder itself', f'{ratio:.3f}',
        ratio >= FOLDER_BAR,
        [f'{statistics.median(rates):,.0f} images/s; the device answers '
         f'{DELAY_MS} ms late', tiered.doubt()])


def measure(session):
    return [copy_row(session), budget_row(session), folder_row(session)]
