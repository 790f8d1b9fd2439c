# session.py - one run of the benchmark: settings, data sets, child processes.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from lib import memory
from lib.options import SCALES

BUSY = 0.3 # load per core
SKIPPED = 77 # exit status: there was nothing to measure with

class Failure(Exception):
    """Something could not be measured; the text says what and why."""


class Missing(Failure):
    """What weir would be compared with is not installed."""


def need(program):
    if not shutil.which(program):
        raise Missing(f'no {program}: scripts/deps.sh bench installs it')


class Outcome:
    """What a child process left behind."""

    def __init__(self, stdout, peak):
        self.stdout = stdout
        self.peak = peak # memory.Peak, or None when it was not sampled


class Session:
    """Takes what lib.options.common() has parsed, and nothing else: each
    script has options of its own besides."""
    PICTURES = 4096, 256, 20 # of each scale, see pick()
    TENSORS = 8192, 1024, 64
    BATCH = 64, 64, 8

    def __init__(self, args):
        self.scale = SCALES.index(args.scale)
        self.smoke = args.scale == 'smoke'
        self.quick = args.scale != 'full'
        self.batch = self.pick(*self.BATCH)
        self.weir = os.path.join(args.build, 'weir')
        self.out = args.out or os.path.join(args.build, 'bench')
        self.data = args.data or os.path.join(self.out, 'data')
        self.records = os.path.join(self.out, 'records')
        self.cores = len(os.sched_getaffinity(0))
        self.started = time.monotonic()
        self.touched = set()
        self.load_at_start = os.getloadavg()[0] # later it is our own
        self.host = {} # the machine, as weir's last record describes it

    def start(self):
        if not os.access(self.weir, os.X_OK):
            raise Failure(f"no '{self.weir}': run make build")
        os.makedirs(self.records, exist_ok=True)
        os.makedirs(self.data, exist_ok=True)
        if self.load_at_start > BUSY * self.cores and not self.smoke:
            self.say(f'the machine is busy (load {self.load_at_start:.1f}): '
                     'the figures will not hold')

    def rounds(self, full, quick=1):
        return quick if self.quick else full

    def pick(self, full, quick, smoke):
        """Of three sizes the one for the scale of this run."""
        return (full, quick, smoke)[self.scale]

    def say(self, text):
        seconds = int(time.monotonic() - self.started)
        print(f'[{seconds // 60:2}:{seconds % 60:02}] {text}',
              file=sys.stderr, flush=True)

    # --- data sets ---

    def pictures(self):
        return self.data_set('imagenet', self.pick(*self.PICTURES))

    def tensors(self):
        return self.data_set('tensors', self.pick(*self.TENSORS))

    def data_set(self, kind, samples):
        path = os.path.join(self.data, f'{kind}-{samples}')
        if not os.path.isdir(path):
            self.say(f'generating {samples} samples of {kind}')
            self.run([self.weir, 'gen', kind, path, '--samples', str(samples)])
        return path

    def touch(self, path):
        """One untimed cold pass: a device or host may be slower when it gives
        out data for the first time."""
        if path not in self.touched:
            self.drop(path)
            self.warm(path)
            self.touched.add(path)

    def drop(self, path):
        self.run([self.weir, 'cache', 'drop', '-q', path])

    def warm(self, path):
        self.run([self.weir, 'cache', 'warm', '-q', path])

    # --- child processes ---

    def run(self, command, sample=False, quiet=False):
        """Runs a command in a session of its own, so that all it has started
        can be ended with it. With sample, its peak memory is watched; unless
        quiet, its progress is shown on a terminal."""
        shown = sys.stderr.isatty() and not quiet
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=None if shown else subprocess.PIPE, text=True,
            start_new_session=True)
        watch = memory.Watch(child.pid) if sample else None
        try:
            stdout, stderr = child.communicate()
        except BaseException:
            self.end(child)
            raise
        finally:
            peak = watch.stop() if watch else None
        if child.returncode != 0:
            said = (stderr or '').strip()[-500:] or 'see above'
            raise Failure(f'{os.path.basename(command[0])} '
                          f'exited with {child.returncode}: {said}\n  '
                          + ' '.join(command))
        return Outcome(stdout, peak)

    @staticmethod
    def end(child):
        for number in (signal.SIGINT, signal.SIGKILL):
            try:
                os.killpg(child.pid, number)
                child.wait(timeout=3)
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue

    def record_path(self, name):
        return os.path.join(self.records, name + '.json')

    def save(self, name, value):
        with open(self.record_path(name), 'w', encoding='utf-8') as f:
            json.dump(value, f, indent=1)
            f.write('\n')
