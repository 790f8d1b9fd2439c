# start.py - what the start of the command takes, beside an earlier one.
# SPDX-License-Identifier: Apache-2.0
import os
import statistics
import subprocess
import time

from lib.report import Row

SLOWER = 1.05 # of the earlier command's time, at most


def once(command):
    """Milliseconds from its start to its end."""
    begin = time.monotonic()
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return (time.monotonic() - begin) * 1e3


def small(session):
    """A data set that takes no time: what remains is the start."""
    path = os.path.join(session.data, 'start')
    if not os.path.isdir(path):
        session.run([session.weir, 'gen', 'tensors', path, '--samples', '8'])
    return path


def compare(session, name, arguments):
    """Rounds of this weir, the earlier one (if any) and /bin/true."""
    commands = {'now': [session.weir, *arguments], 'floor': ['/bin/true']}
    if session.before:
        commands['before'] = [session.before, *arguments]
    times = {who: [] for who in commands}
    for i in range(session.pick(200, 20, 2) + 1):
        for who, command in commands.items():
            took = once(command)
            if i: # the first one reads from the disk
                times[who].append(took)
    middle = {who: statistics.median(t) for who, t in times.items()}
    notes = [f"/bin/true {middle['floor']:.2f} ms"]
    if not session.before:
        return Row(f'start: {name}', '', f"{middle['now']:.2f} ms", None,
                   notes)
    ratio = statistics.median(
        a / b for a, b in zip(times['now'], times['before']))
    notes.append(f"{middle['now']:.2f} ms now, {middle['before']:.2f} ms "
                 'before')
    return Row(f'start: {name}', f'<= {SLOWER:.2f} x before', f'{ratio:.3f}',
               ratio <= SLOWER, notes)


def measure(session):
    bench = ['bench', small(session), '--batches', '1', '-r', '2',
             '--no-limits', '-q']
    return [compare(session, 'weir --help', ['--help']),
            compare(session, 'weir bench, 8 samples', bench)]
