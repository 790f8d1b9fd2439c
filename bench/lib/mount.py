# mount.py - weir mount: its own ceiling, and how truly fio sees each device.
# SPDX-License-Identifier: Apache-2.0
#
# The source lies in memory, so that no real disk is seen. What is expected
# comes from the table of `weir mount --list`; the scaling over threads from
# the paper (Chien et al. 2018, reading files of 112 KB on average).
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass

from lib import fio
from lib.report import Row
from lib.session import Failure, Missing, need

MB = 1e6
PICTURE_BYTES = 112_000
SCALING = {'hdd': (240, {2: 1.65, 4: 1.95, 8: 2.3}),
           'lustre': (1600, {8: 7.8})}
UNITS = {'ns': 1e-9, 'us': 1e-6, 'ms': 1e-3, 's': 1.0}


class Amounts:
    """How much is read and written, by the scale of the session."""

    def __init__(self, session):
        self.file_bytes = session.pick(1 << 30, 1 << 30, 16 << 20)
        # Of the device, for one run at its full rate.
        self.seconds = session.pick(2.5, 2.5, 0.05)
        self.random_ms = session.pick(2000, 2000, 50)
        self.latency_ms = session.pick(1000, 1000, 50)
        self.files = session.pick(math.inf, math.inf, 16)


@dataclass
class Profile:
    name: str
    read: float # bytes per second; 0: no limit
    write: float
    latency: float # seconds
    seek: float

    def lone_read(self, size):
        return self.latency + self.seek + size / self.read


def number(text):
    """'163 MB/s', '8.5 ms' or '-' as bytes per second or seconds."""
    if text == '-':
        return 0.0
    value, unit = text.split()
    return float(value) * (MB if unit == 'MB/s' else UNITS[unit])


def profiles(session):
    table = session.run([session.weir, 'mount', '--list']).stdout
    found = {}
    for line in table.splitlines()[1:]:
        cells = re.split(r'\s{2,}', line.strip())
        found[cells[0]] = Profile(cells[0], *map(number, cells[1:5]))
    return found


@contextmanager
def places(amounts):
    """A source in memory where possible, and an empty mount point."""
    shm = '/dev/shm'
    room = os.path.isdir(shm) and os.access(shm, os.W_OK) and \
        shutil.disk_usage(shm).free > 3 * amounts.file_bytes
    source = tempfile.mkdtemp(prefix='weir-bench-', dir=shm if room else None)
    at = tempfile.mkdtemp(prefix='weir-bench-')
    try:
        yield source, at
    finally:
        shutil.rmtree(source)
        os.rmdir(at)


@contextmanager
def mounted(session, profile, source, at):
    """Gives the floor: seconds of a request that is answered at once."""
    done = subprocess.run([session.weir, 'mount', '--background',
                           '--read-write', '--profile', profile, source, at],
                          stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(done.stderr.strip())
    floor = re.search(r'costs (\S+ \S+) of', done.stderr)
    try:
        yield number(floor[1]) if floor else 0.0
    finally:
        for force in ([], ['--force']):
            if subprocess.run([session.weir, 'mount', '--unmount', *force, at],
                              capture_output=True).returncode == 0:
                break


def fill(source, amounts):
    """One big file, and a folder of pictures' size."""
    block = os.urandom(1 << 20)
    with open(os.path.join(source, 'big'), 'wb') as f:
        for _ in range(amounts.file_bytes >> 20):
            f.write(block)
    folder = os.path.join(source, 'files')
    os.mkdir(folder)
    for i in range(max(count for count, _ in SCALING.values())):
        with open(os.path.join(folder, f'{i:05}'), 'wb') as f:
            f.write(block[:PICTURE_BYTES])


def run_fio(session, at, *options):
    done = session.run(['fio', '--name=mount', '--output-format=json',
                        '--thread', '--group_reporting', '--invalidate=0', '--filename='
                        + os.path.join(at, 'big'), *options], quiet=True)
    job = json.loads(done.stdout[done.stdout.index('{'):])['jobs'][0]
    if job['error']:
        raise Failure(f"fio: error {job['error']}")
    return job


def sequential(session, at, op, amount):
    """Bytes per second of `amount` bytes; of a write with what is cached."""
    size = Amounts(session).file_bytes
    job = run_fio(session, at, f'--rw={op}', '--bs=1M', '--direct=1',
                  '--ioengine=libaio', '--iodepth=8', '--overwrite=1',
                  '--end_fsync=1', f'--size={size}',
                  f'--io_size={max(int(amount) >> 20, 1)}M')
    return job[op]['bw_bytes']


def lone_latency(session, at, ms):
    job = run_fio(session, at, '--rw=randread', '--bs=4k', '--direct=1',
                  '--ioengine=psync', '--time_based',
                  f'--runtime={ms}ms')
    return job['read']['clat_ns']['percentile']['50.000000'] / 1e9


def median(session, full, function):
    return statistics.median(function() for _ in range(session.rounds(full)))


# --- rows ---

def at_least(what, value, bar, unit, notes=()):
    return Row(what, f'>= {bar:,.0f} {unit}', f'{value:,.0f} {unit}',
               value >= bar, notes)


def near(what, value, want, tolerance, shown, notes=()):
    ratio = value / want
    return Row(what, f'{1 - tolerance:.2f} .. {1 + tolerance:.2f} of profile',
               f'{ratio:.3f} ({shown})', abs(ratio - 1) <= tolerance, notes)


def ceiling(session, source, at):
    """Rows of the mount without a device, and its sequential rates."""
    amounts = Amounts(session)

    def random_read(engine, jobs, depth):
        return lambda: run_fio(
            session, at, '--rw=randread', '--bs=4k', '--direct=1',
            f'--ioengine={engine}', f'--numjobs={jobs}', f'--iodepth={depth}',
            '--time_based', f'--runtime={amounts.random_ms}ms')['read']['iops']

    def buffered():
        session.drop(os.path.join(at, 'big'))
        return run_fio(session, at, '--rw=read', '--bs=1M',
                       '--ioengine=psync')['read']['bw_bytes']
    rows = []
    with mounted(session, 'null', source, at) as floor:
        note = [f'each request costs {floor * 1e6:.0f} us of the mount\'s own']
        read = median(session, 3, lambda: sequential(session, at, 'read',
                                                     4 * amounts.file_bytes))
        write = median(session, 3, lambda: sequential(session, at, 'write',
                                                      2 * amounts.file_bytes))
        rows.append(at_least('null: sequential read, 1 MiB, direct',
                             read / MB, 1500, 'MB/s', note))
        rows.append(at_least('null: sequential read, buffered',
                             median(session, 3, buffered) / MB, 1500, 'MB/s'))
        for engine, jobs, depth in (('libaio', 1, 32), ('io_uring', 1, 32),
                                    ('psync', 4, 1)):
            rows.append(at_least(
                f'null: random 4 KiB, {engine} {jobs} x {depth}',
                median(session, 3, random_read(engine, jobs, depth)), 30000,
                'reads/s'))
    return rows, {'read': read, 'write': write}


def bandwidth(session, at, profile, op, limit):
    want = getattr(profile, op)
    amounts = Amounts(session)
    got = median(session, 3, lambda: sequential(
        session, at, op, min(want * amounts.seconds, 4 * amounts.file_bytes)))
    row = near(f'{profile.name}: sequential {op}', got, want, 0.05,
               f'{got / MB:,.0f} MB/s')
    if want > 0.9 * limit:
        row.ok = None
        row.notes.append(f'the mount itself reaches {limit / MB:,.0f} MB/s '
                         'here: faster devices cannot be emulated')
    return row


def latency(session, source, at, profile):
    """Mounted anew for each round: so is the mount's own cost measured."""
    want = profile.lone_read(4096)
    ms = Amounts(session).latency_ms * (1 if want < 1e-3 else 2)
    middles, floors = [], []
    for _ in range(session.rounds(5)):
        with mounted(session, profile.name, source, at) as floor:
            middles.append(lone_latency(session, at, ms))
            floors.append(floor)
    middle, floor = statistics.median(middles), min(floors)
    row = near(f'{profile.name}: lone random read of 4 KiB', middle, want, 0.1,
               f'{middle * 1e6:,.0f} us',
               [f'{len(middles)} mounts: {min(middles) * 1e6:,.0f} to '
                f'{max(middles) * 1e6:,.0f} us'])
    if want < 1.2 * floor:
        row.ok = None
        row.notes.append(f"the mount's own {floor * 1e6:.0f} us are not less "
                         f'than the {want * 1e6:.0f} us of the device')
    return row


def scaling(session, at, profile, count, paper):
    """Blocking readers of whole files, as many more as in the paper?"""
    folder = os.path.join(at, 'files')
    files = fio.files_below(folder)[:min(count,
                                        Amounts(session).files)]

    def rate(jobs):
        return median(session, 1, lambda: fio.run(
            session, folder, files, fio.Setting('psync', jobs, 1, False)))
    one = rate(1)
    gains = {jobs: rate(jobs) / one for jobs in paper}
    ratios = {jobs: gains[jobs] / paper[jobs] for jobs in paper}
    worst = max(ratios.values(), key=lambda r: abs(r - 1))
    return Row(f'{profile.name}: readers of 112 KB files, '
               + '/'.join(map(str, paper)), '0.90 .. 1.10 of the paper',
               f'{worst:.3f} ('
               + ', '.join(f'{g:.2f}x' for g in gains.values()) + ')',
               all(abs(r - 1) <= 0.1 for r in ratios.values()),
               [f'one reader {one:,.0f} files/s; the paper: '
                + ', '.join(f'{p}x' for p in paper.values())])


def devices(session):
    """All that have a rate; of a smoke test those that have all the rows."""
    return [p for p in profiles(session).values()
            if p.read and (p.name in SCALING or not session.smoke)]


def need_mount(session, source, at):
    """Not every machine lets us: whether 'weir mount' works has its tests."""
    try:
        with mounted(session, 'null', source, at):
            pass
    except Failure as e:
        raise Missing(f'nothing can be mounted here: {e}') from e


def measure(session):
    need('fio')
    amounts = Amounts(session)
    with places(amounts) as (source, at):
        need_mount(session, source, at)
        fill(source, amounts)
        rows, limits = ceiling(session, source, at)
        for profile in devices(session):
            session.say(f'mount: {profile.name}')
            with mounted(session, profile.name, source, at):
                for op in ('read', 'write'):
                    rows.append(bandwidth(session, at, profile, op,
                                          limits[op]))
                if profile.name in SCALING:
                    rows.append(scaling(session, at, profile,
                                        *SCALING[profile.name]))
            rows.append(latency(session, source, at, profile))
    session.save('mount', [vars(r) for r in rows])
    return rows
