# probe.py - weir probe against fio on the same path, test by test.
# SPDX-License-Identifier: Apache-2.0
#
# In each round every test is run by both, one right after the other, past the
# page cache, on the same file where it is read; the medians of the rounds are
# compared. Both count the CPU seconds, user and system, of the process that
# makes the requests. A run of writes ends with a sync on both sides.
import json
import os
import shutil
import statistics
from dataclasses import dataclass

from lib.report import Row
from lib.session import Failure, need

SPEED_BAR, CPU_BAR = 0.90, 1.00
ROUNDS = 5
MIB = 1 << 20
SPLIT = '3K/1:6K/2:12K/4:24K/8:48K/13:96K/38:192K/33:384K/1' # as weir's


@dataclass(frozen=True)
class Test:
    name: str
    op: str
    pattern: str
    block: int # 0: the mix
    depth: int

    def weir_options(self):
        if self.pattern == 'sequential':
            return ('--only', 'seq')
        if self.block:
            return ('--only', 'random', '--block', self.block)
        return ('--only', 'mix')

    def fio_options(self):
        sizes = f'--bs={self.block}' if self.block else f'--bssplit={SPLIT}'
        if self.pattern == 'sequential':
            return [f'--rw={self.op}', sizes]
        return ['--rw=randread', sizes, '--norandommap=1']

    def is_it(self, test):
        return (test['op'], test['pattern'], test['block'], test['depth'],
                test['workers'], test['direct']) == (
                    self.op, self.pattern, self.block, self.depth, 1, True)


def tests():
    yield Test('sequential read 1 MiB, depth 8', 'read', 'sequential', MIB, 8)
    yield Test('sequential write 1 MiB, depth 8', 'write', 'sequential', MIB, 8)
    for block in (4096, 131072):
        for depth in (1, 8, 32):
            yield Test(f'random read {block // 1024} KiB, depth {depth}',
                       'read', 'random', block, depth)
    for depth in (32, 128):
        yield Test(f'ImageNet mix, depth {depth}', 'read', 'random', 0, depth)


class Run:
    """The kernel counts CPU time in ticks: a short run may have taken none."""

    def __init__(self, count, bytes_per_s, cpu_s):
        if not count:
            raise Failure('a run ended before its first request was answered')
        self.bytes_per_s = bytes_per_s
        self.cpu_per_gb = cpu_s / (count / 1e9)


class Place:
    """A folder with one file that both read."""

    def __init__(self, session):
        self.session = session
        self.folder = os.path.join(session.data, 'probe')
        self.file = os.path.join(self.folder, 'big')
        self.size = session.pick(1024, 64, 4) * MIB
        self.seconds = session.pick(1.0, 0.2, 0.05)

    def fio(self, *options):
        done = self.session.run(['fio', '--name=job', '--output-format=json',
                                 '--ioengine=io_uring', '--direct=1',
                                 f'--size={self.size}', *options])
        job = json.loads(done.stdout[done.stdout.index('{'):])['jobs'][0]
        if job['error']:
            raise Failure(f"fio: error {job['error']}")
        return job

    def fill(self):
        """Written, and read once: a host may be slower the first time."""
        os.makedirs(self.folder, exist_ok=True)
        self.fio(f'--filename={self.file}', '--rw=write', '--bs=1M',
                 '--iodepth=8', '--refill_buffers=1', '--end_fsync=1')
        self.fio(f'--filename={self.file}', '--rw=read', '--bs=1M',
                 '--iodepth=8')

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def run_fio(self, test):
        name = self.file
        options = []
        if test.op == 'write':
            name = os.path.join(self.folder, 'fio-write')
            options = ['--end_fsync=1', '--unlink=1']
        job = self.fio(f'--filename={name}', f'--iodepth={test.depth}',
                       '--time_based=1', f'--runtime={self.seconds * 1000:.0f}ms',
                       '--randrepeat=0', *options, *test.fio_options())
        did = job[test.op]
        cpu = (job['usr_cpu'] + job['sys_cpu']) / 100 * job['job_runtime'] / 1000
        return Run(did['io_bytes'],
                   did['io_bytes'] / max(did['runtime'], 1) * 1000, cpu)

    def run_weir(self, test):
        path = self.session.record_path('probe')
        self.session.run([self.session.weir, 'probe', self.folder, '--file',
                          self.file, '--size', str(self.size), '--access',
                          'direct', '--passes', '1', '--seconds',
                          str(self.seconds), '-d', str(test.depth), '-t', '1',
                          '-o', path, *map(str, test.weir_options())],
                         quiet=True)
        with open(path, encoding='utf-8') as f:
            record = json.load(f)
        self.session.host = record['host']
        for found in record['tests']:
            if test.is_it(found) and 'runs' in found:
                run = found['runs'][0]
                return Run(run['bytes'], run['bytes_per_s'], run['cpu_s'])
        raise Failure(f'the record has no {test.name}')


def median(runs, key):
    return statistics.median(getattr(r, key) for r in runs)


def row_of(test, ours, theirs):
    speed = median(ours, 'bytes_per_s') / median(theirs, 'bytes_per_s')
    theirs_cpu = median(theirs, 'cpu_per_gb')
    cpu = median(ours, 'cpu_per_gb') / theirs_cpu if theirs_cpu else None
    each = sorted(a.bytes_per_s / b.bytes_per_s for a, b in zip(ours, theirs))
    note = '; '.join(
        f"{name} {median(runs, 'bytes_per_s') / 1e6:,.0f} MB/s, "
        f"{median(runs, 'cpu_per_gb'):.3f} CPU s/GB"
        for name, runs in (('weir', ours), ('fio', theirs)))
    return Row(f'probe: {test.name}',
               f'>= {SPEED_BAR:.2f} of fio, CPU/GB <= {CPU_BAR:.2f}',
               f"{speed:.2f}, CPU {'not counted' if cpu is None else f'{cpu:.2f}'}",
               speed >= SPEED_BAR and (cpu is None or cpu <= CPU_BAR),
               [note, f'speed {each[0]:.2f} to {each[-1]:.2f} over the rounds'])


def measure(session):
    need('fio')
    place = Place(session)
    runs = {test: ([], []) for test in tests()}
    try:
        place.fill()
        for number in range(session.rounds(ROUNDS)):
            session.say(f'probe: round {number + 1}')
            for test, (ours, theirs) in runs.items():
                # Who comes first changes, lest it matter.
                order = [(place.run_weir, ours), (place.run_fio, theirs)]
                for run, kept in order[::-1] if number % 2 else order:
                    kept.append(run(test))
    finally:
        place.remove()
    session.save('probe', {t.name: {'weir': [vars(r) for r in ours],
                                    'fio': [vars(r) for r in theirs]}
                           for t, (ours, theirs) in runs.items()})
    return [row_of(t, ours, theirs) for t, (ours, theirs) in runs.items()]
