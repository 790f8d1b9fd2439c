# faults.py - runs the programs of faulty.py under weir trace: what is found, and
# what it says that mending gains.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Callable

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = '/usr/bin/python3' if os.path.exists('/usr/bin/python3') else \
    sys.executable
KIB, MIB = 1 << 10, 1 << 20

# Emulated devices, slow enough that a call's time is the device's.
PROFILES = {
    'near': '''read_latency = 2 ms
write_latency = 1 ms
meta_latency = 3 ms
sync_latency = 5 ms
read_bandwidth = 400 MB/s
write_bandwidth = 200 MB/s
channels = 16''',
    'far': '''read_latency = 12 ms
read_bandwidth = 400 MB/s
write_bandwidth = 200 MB/s
channels = 16''',
    'stall': '''read_latency = 60 ms
read_bandwidth = 400 MB/s
write_bandwidth = 200 MB/s
channels = 16''',
    'opens': '''read_latency = 200 us
meta_latency = 3 ms
read_bandwidth = 400 MB/s
write_bandwidth = 200 MB/s
channels = 16''',
    'disk': '''read_latency = 500 us
write_latency = 200 us
sync_latency = 2 ms
read_bandwidth = 100 MB/s
write_bandwidth = 100 MB/s
readahead = 512 KiB
channels = 1''',
    'quick': '''read_latency = 1 ms
read_bandwidth = 400 MB/s
write_bandwidth = 200 MB/s
channels = 16''',
    'nfs': '''read_latency = 2 ms
write_latency = 1 ms
sync_latency = 5 ms
read_bandwidth = 400 MB/s
write_bandwidth = 100 MB/s
channels = 16''',
    'lustre': '''read_latency = 1 ms
read_bandwidth = 800 MB/s
write_bandwidth = 400 MB/s
channels = 16''',
}


# --- data ---

def numbered(folder, count, size, first=0):
    os.makedirs(folder, exist_ok=True)
    for i in range(first, first + count):
        with open(os.path.join(folder, str(i)), 'wb') as f:
            f.write(bytes([i % 251]) * size)


def sparse(path, size):
    with open(path, 'wb') as f:
        f.truncate(size)


def files(size, extra=0):
    """A data set of as many files of `size` bytes as the program counts."""
    return lambda data, scratch, count: numbered(data, count + extra, size)


def one_big(size):
    return lambda data, scratch, count: sparse(os.path.join(data, 'big'), size)


def in_one(size):
    """One file of half as many records of `size` bytes as the program counts."""
    return lambda data, scratch, count: sparse(os.path.join(data, 'big'),
                                               count // 2 * size)


def local(data, scratch, count):
    numbered(os.path.join(scratch, 'files'), 500, 20 * KIB)


def near_and_far(data, scratch, count):
    numbered(os.path.join(data, 'near'), 5 * count, 20 * KIB)
    numbered(os.path.join(scratch, 'source'), 5 * count, 20 * KIB)


def packed(data, scratch, count):
    numbered(data, count, 4000)
    sparse(os.path.join(data, 'packed'), 4000 * count)


def records(data, scratch, count):
    numbered(data, count // 2, MIB)
    sparse(os.path.join(data, 'packed'), count // 2 * MIB)


def classes(data, scratch, count):
    at = os.path.join(os.path.dirname(scratch), 'at')
    paths = []
    for k in range(count):
        numbered(os.path.join(data, str(k)), 4, 20 * KIB)
        paths += [f'{k}/{i}' for i in range(4)]
    with open(os.path.join(scratch, 'samples'), 'w', encoding='utf-8') as f:
        f.write('\n'.join(os.path.join(at, p) for p in paths))


def modules(data, scratch, count):
    for k in range(30):
        os.makedirs(os.path.join(scratch, f'path{k}'), exist_ok=True)
    for folder in data, os.path.join(scratch, 'modules'):
        os.makedirs(folder, exist_ok=True)
        for k in range(count):
            with open(os.path.join(folder, f'slow_module_{k}.py'), 'w',
                      encoding='utf-8') as f:
                f.write('x = 1\n')


def stalls(data, scratch, count):
    local(data, scratch, count)
    numbered(data, count // 250 + 1, 20 * KIB)


@dataclass
class Case:
    """A fault. counts: how much work a measurement and a test give it."""
    code: str
    device: str # of PROFILES; '': none
    make: Callable
    counts: tuple
    costs: bool = True # seconds are said, and can be measured
    torch: bool = False
    probe: bool = False # the estimate needs what weir probe measured
    says: str = '' # a word of the finding
    memory: int = 0 # that a control group allows; 0: no limit


WITHOUT = ('D16',) # emulated devices let reads go before writes
CASES = {
    # Enough work that it is a good part of the run, on a busy machine also, which
    # takes its time to import PyTorch.
    'D01': Case('D01', 'near', files(50 * KIB), (400, 240), torch=True),
    'D02': Case('D02', 'near', files(50 * KIB), (800, 600), torch=True),
    'D02-MANY': Case('D02', '', files(20 * KIB), (400, 200), costs=False,
                     torch=True),
    'D03': Case('D03', 'quick', near_and_far, (120, 48)),
    'D04': Case('D04', '', files(20 * KIB), (64, 64), torch=True),
    'D05': Case('D05', 'near', files(50 * KIB), (400, 100)),
    'D06': Case('D06', '', files(20 * KIB), (100, 100), costs=False),
    'D07': Case('D07', 'near', files(50 * KIB), (300, 60)),
    'D08': Case('D08', 'near', one_big(64 * MIB), (1000, 200)),
    'D09': Case('D09', 'near', files(20 * KIB), (300, 60)),
    'D10': Case('D10', 'opens', packed, (800, 150)),
    'D11': Case('D11', 'near', classes, (400, 120)),
    'D12': Case('D12', 'disk', one_big(512 * MIB), (400, 150), probe=True),
    'D13': Case('D13', 'near', one_big(256 * MIB), (1000, 200)),
    'D14': Case('D14', 'disk', local, (40, 20)),
    'D15': Case('D15', '', local, (600, 600), costs=False),
    'D17-STORAGE': Case('D17', 'disk', files(4 * MIB), (16, 16), costs=False,
                        probe=True, says='Storage-bound'),
    'D17-CPU': Case('D17', 'disk', files(20 * KIB), (80, 80), costs=False,
                    probe=True, says='CPU-bound'),
    'D18': Case('D18', 'stall', stalls, (20000, 2500)),
    'D19': Case('D19', 'near', modules, (600, 350)),
    'D20': Case('D20', 'near', local, (300, 80)),
    'D21': Case('D21', '', files(MIB), (60, 60), costs=False),
    'D22': Case('D22', 'opens', in_one(64 * KIB), (800, 240)),
    'S01': Case('S01', 'lustre', files(4 * MIB), (40, 10), costs=False),
    'S02': Case('S02', 'near', files(50 * KIB), (400, 80)),
    'S03': Case('S03', 'opens', records, (400, 220)),
    'S04': Case('S04', 'near', files(100 * KIB), (40, 10)),
    'S05': Case('S05', 'nfs', files(MIB), (100, 100), memory=120 * MIB),
    'S06': Case('S06', 'nfs', local, (40, 20)),
}


def lacks(name):
    """What this machine does not have for a case, or None."""
    case = CASES[name]
    if case.memory and not os.access('/sys/fs/cgroup/memory', os.W_OK):
        return 'control groups of memory (version 1)'
    if case.torch and not has_torch():
        return 'torch'
    return None


def has_torch():
    return subprocess.run([PYTHON, '-c', 'import importlib.util as u; '
                           'raise SystemExit(not u.find_spec("torch"))'],
                          check=False).returncode == 0


class Bench:
    """A weir, and a folder for data sets and mounts."""

    def __init__(self, weir, folder, memory=None, compensate=True):
        self.weir = weir
        self.folder = folder
        self.memory = memory # a folder in memory, for what devices hold
        self.compensate = compensate

    def run(self, *command, code=0, **settings):
        done = subprocess.run(command, capture_output=True, text=True,
                              check=False, **settings)
        if done.returncode != code:
            raise RuntimeError(f"{' '.join(command)}: {done.returncode}\n"
                               f'{done.stdout}{done.stderr}')
        return done.stdout

    @contextmanager
    def mounted(self, device, source, at):
        """Yields where `source` is to be seen: at `at`, on the device."""
        if not device:
            yield source
            return
        os.makedirs(at, exist_ok=True)
        profile = os.path.join(self.folder, device + '.profile')
        with open(profile, 'w', encoding='utf-8') as f:
            f.write(f'name = {device}\n{PROFILES[device]}\n')
        options = [] if self.compensate else ['--no-compensate']
        self.run(self.weir, 'mount', '--background', '--read-write', '-q',
                 *options, '--profile', profile, source, at)
        try:
            yield at
        finally:
            for _ in range(50):
                done = subprocess.run([self.weir, 'mount', '-u', at],
                                      capture_output=True, check=False)
                if done.returncode == 0:
                    break
                time.sleep(0.1)

    def report(self, trace, probe, says):
        text = self.run(self.weir, 'report', '--json', *probe, trace)
        return found_in(json.loads(text), says)

    def recorded(self, folder, name, mended):
        """What is found in a trace that was kept."""
        trace = recorded_path(folder, name, mended)
        probe = ('--probe', trace + '.probe') if CASES[name].probe else ()
        return self.report(trace, probe, CASES[name].says)

    @contextmanager
    def prepared(self, name, count):
        """Yields a function that runs the program of a case, faulty or mended:
        cold, bare or under weir trace."""
        case = CASES[name]
        top = tempfile.mkdtemp(prefix=name + '-', dir=self.folder)
        scratch, data = os.path.join(top, 'scratch'), os.path.join(top, 'data')
        if self.memory and case.device:
            data = os.path.join(self.memory, os.path.basename(top))
        os.mkdir(data)
        os.mkdir(scratch)
        case.make(data, scratch, count)
        if name == 'D03':
            os.mkdir(os.path.join(data, 'far'))
        at = os.path.join(top, 'at')
        try:
            with self.mounted(case.device, data, at) as seen:
                if name == 'D03':
                    with self.mounted('far', os.path.join(scratch, 'source'),
                                      os.path.join(seen, 'far')):
                        yield Runner(self, name, seen, scratch, count)
                else:
                    yield Runner(self, name, seen, scratch, count)
        finally:
            shutil.rmtree(top, ignore_errors=True)
            shutil.rmtree(data, ignore_errors=True)


class Runner:
    """Runs one case."""

    def __init__(self, bench, name, data, scratch, count):
        self.bench = bench
        self.name, self.data, self.scratch = name, data, scratch
        self.count = count

    def command(self, mended):
        return [PYTHON, '-B', os.path.join(HERE, 'faulty.py'), self.name,
                'mended' if mended else 'faulty', self.data, self.scratch,
                str(self.count)]

    def cool(self):
        """Nothing of the data in memory, nothing left of the last run."""
        for name in os.listdir(self.data):
            if name.startswith(('state', 'log')):
                os.remove(os.path.join(self.data, name))
        self.bench.run(self.bench.weir, 'cache', 'drop', '-q', self.data)
        shutil.rmtree(os.path.join(self.scratch, 'local'), ignore_errors=True)

    def bare(self, mended):
        """Seconds that the program takes."""
        self.cool()
        with self.limited() as enter:
            begin = time.monotonic()
            self.bench.run(*self.command(mended), preexec_fn=enter)
            return time.monotonic() - begin

    @contextmanager
    def limited(self):
        """Yields what a child calls first: enters a control group with as
        little memory as the case allows."""
        limit = CASES[self.name].memory
        if not limit:
            yield None
            return
        group = f'/sys/fs/cgroup/memory/weir-faults-{os.getpid()}'
        os.mkdir(group)
        with open(group + '/memory.limit_in_bytes', 'w',
                  encoding='ascii') as f:
            f.write(str(limit))

        def enter():
            with open(group + '/cgroup.procs', 'w', encoding='ascii') as f:
                f.write(str(os.getpid()))
        try:
            yield enter
        finally:
            for _ in range(20):
                try:
                    os.rmdir(group)
                    break
                except OSError:
                    time.sleep(0.1)

    def traced(self, mended, keep=None):
        """What is found in its trace, see found_in(); kept in a folder."""
        self.cool()
        trace = os.path.join(self.scratch, 'run.wtrace')
        try:
            with self.limited() as enter:
                self.bench.run(self.bench.weir, 'trace', '-q', '-o', trace,
                               '--', *self.command(mended), preexec_fn=enter)
            if keep:
                self.keep(trace, mended, keep)
            return self.report(trace)
        finally:
            if os.path.exists(trace):
                os.remove(trace)

    def keep(self, trace, mended, folder):
        path = recorded_path(folder, self.name, mended)
        shutil.copy(trace, path)
        if CASES[self.name].probe:
            shutil.copy(self.probe()[1], path + '.probe')

    def probe(self):
        """Options of weir report, with a record of what the device can do."""
        record = os.path.join(self.scratch, 'probe.json')
        if not os.path.exists(record):
            self.bench.run(self.bench.weir, 'probe', '-q', self.data, '--only',
                           'seq', '--passes', '1', '--seconds', '0.3',
                           '--file-size', '32MiB', '--access', 'direct',
                           '--record', record)
        return '--probe', record

    def report(self, trace):
        case = CASES[self.name]
        return self.bench.report(trace, self.probe() if case.probe else (),
                                 case.says)


def recorded_path(folder, name, mended):
    return os.path.join(folder,
                        f'{name}-{"mended" if mended else "faulty"}.wtrace')


def found_in(report, says=''):
    """The findings of a report: code to seconds in the run (None: a risk). One
    of them must say it, or there are none."""
    if says not in '\n'.join(report['summary']):
        return {}
    for section in report['sections']:
        for table in section['tables']:
            if table['title'].startswith('What costs time'):
                return {row[0].split(':')[0]: row[2] for row in table['rows']}
    return {}
