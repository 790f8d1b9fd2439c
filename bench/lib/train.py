# train.py - training steps of weir's engines and of PyTorch, taking turns.
# SPDX-License-Identifier: Apache-2.0
import os
import statistics
import subprocess
import tempfile

from lib.report import Row
from lib.session import Failure, Missing, Session

PYTHON = '/usr/bin/python3' # Debian's own: it has Debian's torch
THREADS = 2
BARS = {'onednn': 1.0, 'reference': 1.5} # of PyTorch's time, at most


class Stepper:
    """A program that does one step for each line it is sent."""

    def __init__(self, command, **environment):
        self.said = tempfile.TemporaryFile('w+')
        self.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.said, text=True, start_new_session=True,
            env={**os.environ, **environment})
        self.times, self.cpu = [], []
        word, _, self.name = self.read().partition(' ')
        if word != 'ready':
            self.fail()

    def read(self):
        return self.child.stdout.readline().strip()

    def fail(self):
        self.child.stdin.close()
        status = self.child.wait()
        self.said.seek(0)
        text = self.said.read().strip()[-300:]
        raise (Missing if status == 77 else Failure)(
            text or f'exited with {status}')

    def step(self):
        """Milliseconds of wall clock and of CPU."""
        self.child.stdin.write('\n')
        self.child.stdin.flush()
        words = self.read().split()
        if len(words) != 2:
            self.fail()
        return tuple(map(float, words))

    def count(self):
        wall, cpu = self.step()
        self.times.append(wall)
        self.cpu.append(cpu)

    def finish(self):
        """Its peak memory in bytes."""
        self.child.stdin.close()
        peak = int(self.read().split()[1])
        self.child.wait()
        return peak

    def end(self):
        if self.child.poll() is None:
            Session.end(self.child)
        self.said.close()

    def shown(self, peak):
        return (f'{self.name}: {statistics.median(self.times):,.0f} ms, CPU '
                f'{statistics.median(self.cpu):,.0f} ms, '
                f'{peak / 1e6:,.0f} MB')


def torch_pythons(session):
    """Debian's interpreter, and that of make bench-peers with the newest
    PyTorch, if it is there; as the start of a command."""
    yield [PYTHON]
    peers = os.path.join(os.path.dirname(session.weir), 'peers')
    python = os.path.join(peers, 'venv-pytorch', 'bin', 'python')
    if os.access(python, os.X_OK):
        libraries = os.path.abspath(os.path.join(peers, 'lib-pytorch'))
        yield ['env', f'LD_LIBRARY_PATH={libraries}', python]


def begin(session, batch, width):
    """{engine: Stepper}, [Stepper of PyTorch], [what is missing]."""
    build = os.path.dirname(session.weir)
    tool = os.path.join(build, 'bench', 'bench-train')
    modules = os.path.join(build, 'src', 'train')
    script = os.path.join(os.path.dirname(__file__), 'torch_step.py')
    engines, peers, missing = {}, [], []
    settings = [str(batch), str(THREADS), str(width)]
    try:
        for engine in BARS:
            try:
                engines[engine] = Stepper([tool, engine, *settings],
                                          WEIR_MODULES=modules)
            except Missing as e:
                missing.append(str(e))
        for python in torch_pythons(session):
            try:
                peers.append(Stepper([*python, '-B', script, *settings,
                                      str(int(not session.quick))]))
            except Missing as e:
                missing.append(f'not compared with PyTorch: {e}')
    except BaseException:
        for s in [*engines.values(), *peers]:
            s.end()
        raise
    return engines, peers, missing


def row(engine, ours, theirs, batch, notes):
    """Ratios are taken within a round: the machine is as noisy for both."""
    what = f'train step, {engine}, batch {batch}'
    if not theirs:
        return Row(what, f'<= {BARS[engine]:.1f} x PyTorch',
                   f'{statistics.median(ours.times):,.0f} ms', None, notes)
    ratio = statistics.median(a / b for a, b in zip(ours.times, theirs.times))
    return Row(f'{what}, {" ".join(theirs.name.split()[:2])}',
               f'<= {BARS[engine]:.1f} x its time', f'{ratio:.3f}',
               ratio <= BARS[engine], notes)


def contest(session, batch, width, rounds):
    session.say(f'train: batch {batch}')
    engines, peers, missing = begin(session, batch, width)
    everyone = [*engines.values(), *peers]
    try:
        for s in everyone:
            s.step() # a warm-up
        for _ in range(rounds):
            for s in everyone:
                s.count()
        notes = [*(s.shown(s.finish()) for s in everyone), *missing]
    finally:
        for s in everyone:
            s.end()
    rows = [row(engine, ours, theirs, batch, [])
            for engine, ours in engines.items()
            for theirs in peers or [None]]
    if rows:
        rows[-1].notes = notes
    return rows


def measure(session):
    width = session.pick(1, 1, 0.1)
    rows = []
    for batch in session.pick((64, 16), (64, 16), (3,)):
        rows += contest(session, batch, width, session.pick(15, 3, 1))
    return rows
