# first_batch.py - a run on a million files: from its start to its first batch.
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import statistics
import time

from lib import links, million, workload
from lib.report import Row
from lib.session import Failure

TIME_BAR_S, MEMORY_BAR_MB = 0.5, 100
FILES = 1_000_000, 100_000, 1000
BYTES = 4000
BATCH = 16


def data_of(session):
    """Links to a file in each folder, made once."""
    count = session.pick(*FILES)
    path = os.path.join(session.data, f'links-{count}')
    if not os.path.isdir(path):
        session.say(f'making {count:,} files')
        half = path + '.half' # an interrupted one is begun anew
        shutil.rmtree(half, ignore_errors=True)
        links.fill(half, count, os.urandom(BYTES))
        train = os.path.join(half, 'train')
        million.make_older(train, *(e.path for e in os.scandir(train)))
        os.rename(half, path)
    return path, count


def run_of(session, data, count, steps):
    """Seconds from the start of the process to its end, and its peak: of one
    step, no time is computed, and nothing is done but ending after it."""
    args = workload.command(
        session, data, {'dataset.format': 'jpeg', 'dataset.num_files_train': count,
                        'reader.batch_size': BATCH,
                        'train.computation_time': 0},
        ('--steps', steps, '--json', '--index-dir',
         os.path.join(session.out, 'index')))
    begin = time.monotonic()
    record, peak = workload.alone(args)
    return time.monotonic() - begin, peak, record


def written(session):
    """When each index was written."""
    return {e.name: e.stat().st_mtime_ns
            for e in os.scandir(os.path.join(session.out, 'index'))}


def measure(session):
    data, count = data_of(session)
    run_of(session, data, count, steps=1) # the index is kept from here on
    kept = written(session)
    runs = [run_of(session, data, count, steps=1)
            for _ in range(session.rounds(9, 3))]
    if not kept or written(session) != kept:
        raise Failure('the index was not reused: did the files just change?')
    more = [run_of(session, data, count, steps=20)
            for _ in range(session.rounds(3))]
    took = [s for s, _, _ in runs]
    first = [r['result']['first_batch_ms'] for _, _, r in runs]
    peaks = [p / 1e6 for _, p, _ in runs + more]
    middle = statistics.median(took)
    session.save('run-million', {'seconds': took, 'peak_mb': peaks,
                                 'first_batch_ms': first})
    return [
        Row(f'start to first batch on {count:,} files, indexed',
            f'< {TIME_BAR_S} s', f'{middle:.3f} s', middle < TIME_BAR_S,
            [f'a process of one step of {BATCH} samples, from its start to its '
             f'end: {min(took):.3f} to {max(took):.3f} s; of it the wait for '
             f'the batch {statistics.median(first):.1f} ms']),
        Row('the same, peak memory of the process', f'< {MEMORY_BAR_MB} MB',
            f'{max(peaks):,.1f} MB', max(peaks) < MEMORY_BAR_MB,
            ['also of runs of 20 steps'])]
