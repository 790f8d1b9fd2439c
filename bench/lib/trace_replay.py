# trace_replay.py - replays of traces, against the programs themselves.
# SPDX-License-Identifier: Apache-2.0
#
# Each program is traced once where its files are in memory. Replayed on an
# emulated device, its I/O must take as long as that of the program on a mount of
# this device; replayed in place, as long as when it was traced.
import json
import os
import random
import statistics
import tempfile

from lib.mount import mounted, need_mount
from lib.report import Row

PROGRAM = os.path.join(os.path.dirname(__file__), 'traced_program.py')
PYTHON = '/usr/bin/python3'
KINDS = {'small': 'small files, 1 thread',
         'workers': 'small files, 4 processes',
         'big': 'big files from beginning to end',
         'scattered': 'random reads in a big file'}
DEVICES = ('hdd', 'ssd', 'lustre')
TOLERANCE = 0.1


def data(session):
    """Small files and two big ones. Not below /dev/shm: that is no data."""
    files = session.pick(400, 200, 8)
    folder = os.path.join(session.data, f'replay-{files}')
    if os.path.exists(os.path.join(folder, 'list.txt')):
        return folder
    os.makedirs(os.path.join(folder, 'files'), exist_ok=True)
    rng, names = random.Random(0), []
    for i in range(files):
        names.append(f'files/{i:05}.jpg')
        with open(os.path.join(folder, names[-1]), 'wb') as f:
            f.write(os.urandom(rng.randrange(10_000, 220_000)))
    for i in range(2):
        with open(os.path.join(folder, f'big{i}'), 'wb') as f:
            for _ in range(session.pick(64, 32, 1)):
                f.write(os.urandom(1 << 20))
    with open(os.path.join(folder, 'list.txt'), 'w', encoding='utf-8') as f:
        f.write('\n'.join(names) + '\n')
    return folder


def trace(session, kind, folder):
    path = os.path.join(session.data, f'replay-{kind}.wtrace')
    if os.path.exists(path):
        os.remove(path)
    session.run([session.weir, 'trace', '-q', '-o', path, '--', PYTHON, PROGRAM,
                 kind, folder])
    return path


def replay(session, path, *arguments):
    return json.loads(session.run([session.weir, 'probe', '--json', '--replay',
                                   path, *arguments], quiet=True).stdout)


def on_mount(session, kind, device, folder, at):
    """Seconds of I/O of the program on a mount whose pages are not cached."""
    with mounted(session, device, folder, at):
        path = trace(session, kind, at)
    return replay(session, path, f'emu:null:{folder}', '--replay-from', at,
                  '--replay-speed', 'asap')['traced_io_s']


def row(title, ratios, notes):
    middle = statistics.median(ratios)
    return Row(f'replay: {title}', f'{1 - TOLERANCE:.2f} .. {1 + TOLERANCE:.2f}',
               f'{middle:.3f} ({min(ratios):.3f} to {max(ratios):.3f})',
               abs(middle - 1) <= TOLERANCE, notes)


def emulated(session, kind, device, folder, at):
    path = trace(session, kind, folder)
    here = replay(session, path, f'emu:{device}:{folder}')['replayed_io_s']
    there = [on_mount(session, kind, device, folder, at)
             for _ in range(session.rounds(3))]
    return row(f'{KINDS[kind]}, {device}', [here / t for t in there],
               [f'{here:.3f} s; the program on weir mount '
                f'{statistics.median(there):.3f} s'])


def in_place(session, kind, folder, cold):
    """The same storage, cold or in memory for both."""
    ratios, times = [], []
    for _ in range(session.rounds(5)):
        (session.drop if cold else session.warm)(folder)
        path = trace(session, kind, folder)
        (session.drop if cold else session.warm)(folder)
        result = replay(session, path, folder)
        times.append(result['traced_io_s'])
        ratios.append(result['replayed_io_s'] / result['traced_io_s'])
    return row(f'{KINDS[kind]}, same disk, {"cold" if cold else "in memory"}',
               ratios, [f'{statistics.median(times):.3f} s traced'])


def measure(session):
    folder = data(session)
    rows = []
    with tempfile.TemporaryDirectory(prefix='weir-bench-') as at:
        need_mount(session, folder, at)
        session.warm(folder)
        for kind in KINDS:
            for device in DEVICES:
                session.say(f'{kind}, {device}')
                rows.append(emulated(session, kind, device, folder, at))
    for kind in KINDS:
        for cold in (True, False):
            rows.append(in_place(session, kind, folder, cold))
    return rows
