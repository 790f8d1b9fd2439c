# alike.py - as many accelerators in one process and in ranks: the same rate?
# SPDX-License-Identifier: Apache-2.0
#
# An emulated device inside of weir (emu:) belongs to one process. So that ranks
# share one, it is mounted, and read past the page cache.
import os
import statistics
import tempfile

from lib import links, mount, workload
from lib.report import Row
from lib.session import Missing

COUNT = 8
NEAR = 0.05
BYTES, FILES, BATCH = 112_000, 6400, 8
DEVICE = 'ssd'
# Seconds of a step, where it decides: a device of 2,505 files/s is asked for
# 3,556; one of the page cache for 3,200.
STORAGE_STEP_S, STEP_S = 0.018, 0.020


def rate(session, data, step_s, options, accelerators, ranks):
    steps = session.pick(FILES // BATCH // COUNT, 50, 3)
    record = workload.run(
        session, data,
        {'dataset.format': 'jpeg', 'dataset.num_files_train': FILES,
         'reader.batch_size': BATCH, 'train.computation_time': step_s,
         'train.epochs': session.pick(4, 2, 1)},
        '-g', accelerators, '--steps', steps, '-t', 1, '-d', 8, '--index-dir',
        os.path.join(session.out, 'index'), *options, ranks=ranks)
    return record['result']['samples_per_s']


def row(session, title, data, step_s, *options):
    """Both in turn, in rounds: the median of the rounds' own ratios."""
    pairs = [(rate(session, data, step_s, options, COUNT, 1),
              rate(session, data, step_s, options, 1, COUNT))
             for _ in range(session.rounds(5))]
    ratios = [one / ranks for one, ranks in pairs]
    ratio = statistics.median(ratios)
    return Row(
        f'{COUNT} accelerators in one process against {COUNT} ranks, {title}',
        f'samples/s within {NEAR:.0%}', f'{ratio:.3f}',
        abs(ratio - 1) <= NEAR,
        [f'{statistics.median(p[0] for p in pairs):,.0f} samples/s in one '
         f'process, {statistics.median(p[1] for p in pairs):,.0f} in ranks; '
         f'the rounds {min(ratios):.3f} to {max(ratios):.3f}'])


def mounted_row(session, data):
    title = f'storage-bound: one {DEVICE}, mounted'
    at = tempfile.mkdtemp(prefix='weir-bench-')
    try:
        mount.need_mount(session, data, at)
        with mount.mounted(session, DEVICE, data, at):
            return row(session, title, at, STORAGE_STEP_S, '--direct')
    except Missing as e:
        return Row(f'{COUNT} accelerators against {COUNT} ranks, {title}',
                   f'samples/s within {NEAR:.0%}', '-', None, [str(e)])
    finally:
        os.rmdir(at)


def measure(session):
    with links.in_memory(BYTES) as folder:
        data = os.path.join(folder, 'data')
        links.fill(data, FILES, os.urandom(BYTES))
        rows = [mounted_row(session, data),
                row(session, f'warm, steps of {STEP_S * 1e3:g} ms', data,
                    STEP_S),
                row(session, 'warm, nothing computed', data, 0)]
    session.save('run-ranks', [vars(r) for r in rows])
    return rows
