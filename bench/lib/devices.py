# devices.py - storage-bound runs of 'weir run' on emulated devices.
# SPDX-License-Identifier: Apache-2.0
#
# What the device allows comes from its model alone, in virtual time
# (bench-device): so many files per second with so many reads in flight. The
# accelerator is given a step that wants more than that; its utilization must
# be what the device has of what it wants. The first epoch does not count: AU
# leaves out the wait for the first batch, in which the reads of several batches
# were already in flight, and a short run would come out too well.
import os
import statistics
from dataclasses import dataclass

from lib import links, mount, workload
from lib.report import Row

NEAR = 0.03
WANTED_AU = 0.70
WORKERS = 2
SPARE = 0.7 # of what can be read without a device, at most, to emulate one


@dataclass
class Kind:
    title: str
    bytes: int
    batch: int
    files: int
    depth: int # reads in flight of each worker


KINDS = (Kind('files of 112 KB', 112_000, 64, 6400, 32),
         Kind('files of 8 MiB', 8 << 20, 4, 400, 4))


def allowed(session, device, kind):
    """Files per second, by the model."""
    tool = os.path.join(os.path.dirname(session.weir), 'bench', 'bench-device')
    return float(session.run([tool, device, str(kind.bytes),
                              str(WORKERS * kind.depth)], quiet=True).stdout)


def run(session, url, kind, step_s, steps, epochs):
    return workload.run(
        session, url,
        {'dataset.format': 'jpeg', 'dataset.num_files_train': kind.files,
         'reader.batch_size': kind.batch, 'train.epochs': 1 + epochs,
         'train.computation_time': step_s},
        '--steps', steps, '-d', kind.depth, '-t', WORKERS, '--index-dir',
        os.path.join(session.out, 'index'))


def rate_of(record):
    """Samples per second of the epochs after the first."""
    later = record['epochs'][1:]
    return sum(e['samples'] for e in later) / sum(e['seconds'] for e in later)


def inside(session, kind, data):
    """Files per second of the same run without a device."""
    steps = kind.files // kind.batch
    return rate_of(run(session, data, kind, 0, session.pick(steps, steps, 2),
                       session.pick(2, 1, 1)))


def one(session, device, kind, data):
    """Figures of one run."""
    rate = allowed(session, device.name, kind)
    steps = min(max(int(session.pick(2.5, 1, 0.02) * rate / kind.batch), 2),
                kind.files // kind.batch)
    epochs = max(round(session.pick(6, 2, 0.02) * rate / kind.batch / steps), 1)
    record = run(session, f'emu:{device.name}:{data}', kind,
                 WANTED_AU * kind.batch / rate, steps, epochs)
    later = record['epochs'][1:]
    return {'au': statistics.fmean(e['au'] for e in later),
            'rate': rate_of(record), 'all_au': record['result']['au'],
            'allowed': rate, 'inside': inside(session, kind, data)}


def row(session, device, kind, data):
    runs = [one(session, device, kind, data)
            for _ in range(session.rounds(3))]
    au, rate, limit = (statistics.median(r[k] for r in runs)
                       for k in ('au', 'rate', 'inside'))
    most = runs[0]['allowed']
    off = {'AU': au / WANTED_AU, 'samples/s': rate / most}
    found = Row(
        f'storage-bound run on {device.name}, {kind.title}',
        f'AU, samples/s within {NEAR:.0%}',
        ', '.join(f'{k} {v:.3f}' for k, v in off.items()),
        all(abs(v - 1) <= NEAR for v in off.values()),
        [f'AU {au:.1%}, the model allows {WANTED_AU:.0%}; {rate:,.1f} of '
         f'{most:,.1f} samples/s with {WORKERS * kind.depth} reads in flight '
         f'({kind.bytes * rate / 1e6:,.0f} MB/s; bandwidth '
         f'{device.read / 1e6:,.0f}); AU of the runs (with the first epoch) '
         + ', '.join(f"{r['au']:.1%} ({r['all_au']:.1%})" for r in runs)])
    if most > SPARE * limit and not found.ok:
        found.ok = None
        found.notes.append(f'without a device the same run reaches '
                           f'{limit:,.0f} samples/s here, which is too near to '
                           'it')
    return found


def measure(session):
    rows = []
    with links.in_memory(sum(k.bytes for k in KINDS)) as folder:
        for number, kind in enumerate(KINDS):
            data = os.path.join(folder, str(number))
            links.fill(data, kind.files, os.urandom(kind.bytes))
            for device in mount.profiles(session).values():
                if not device.read or (session.smoke and
                                       device.name not in ('ssd', 'nfs')):
                    continue
                session.say(f'run-devices: {device.name}, {kind.title}')
                rows.append(row(session, device, kind, data))
    session.save('run-devices', [vars(r) for r in rows])
    return rows
