# trace_torch.py - what tracing costs a training script of PyTorch.
# SPDX-License-Identifier: Apache-2.0
import os
import statistics
import subprocess
import time

from lib.report import Row
from lib.session import Missing

PYTHON = '/usr/bin/python3'
PROGRAM = os.path.join(os.path.dirname(__file__), 'torch_train.py')
BAR = 0.02


def data(session):
    folder = os.path.join(session.data, 'torch')
    files = session.pick(2000, 1000, 16)
    for i in range(files):
        path = os.path.join(folder, f'{i:05}.bin')
        if not os.path.exists(path):
            os.makedirs(folder, exist_ok=True)
            with open(path, 'wb') as f:
                f.write(os.urandom(3 * 64 * 64))
    return folder, files


def once(session, arguments, traced):
    """Seconds of the training, and of the whole script with loading PyTorch
    and, traced, with the report at the end."""
    command = [PYTHON, PROGRAM, *map(str, arguments)]
    trace = os.path.join(session.data, 'torch.wtrace')
    if traced:
        command = [session.weir, 'trace', '-q', '-o', trace, '--', *command]
    began = time.monotonic()
    said = session.run(command, quiet=True).stdout
    took = time.monotonic() - began
    if traced:
        os.remove(trace)
    return float(said.split()[0]), took


def compare(session, folder, files, kind, workers):
    """Rounds of both, in turns: the median of the ratios."""
    arguments = (folder, files, kind, workers)
    ratios, bare, whole = [], [], []
    once(session, arguments, True) # into the page cache
    for i in range(session.pick(7, 3, 1)):
        pair = {traced: once(session, arguments, traced)
                for traced in ((False, True) if i % 2 else (True, False))}
        ratios.append(pair[True][0] / pair[False][0])
        bare.append(pair[False][0])
        whole.append(pair[True][1] - pair[False][1])
    more = statistics.median(ratios) - 1
    return Row(f'trace: PyTorch, {kind}, {workers} workers', f'< {BAR:.0%}',
               f'{more:+.1%}', more < BAR,
               [f'bare {statistics.median(bare):.2f} s; from '
                f'{min(ratios) - 1:+.1%} to {max(ratios) - 1:+.1%}; the whole '
                f'script with the report takes {statistics.median(whole):+.2f} '
                's'])


def measure(session):
    if subprocess.run([PYTHON, '-c', 'import torch'],
                      capture_output=True).returncode:
        raise Missing('no PyTorch: scripts/deps.sh bench installs it')
    folder, files = data(session)
    rows = []
    for kind in ('fork', 'spawn', 'forkserver'):
        for workers in (2, 4):
            session.say(f'{kind}, {workers} workers')
            rows.append(compare(session, folder, files, kind, workers))
    return rows
