# start.py - what the start of the command takes, beside an earlier one.
# SPDX-License-Identifier: Apache-2.0
import os
import statistics
import subprocess
import time

from lib.report import Row
from lib.session import Failure

SLOWER = 1.05 # of the earlier command's time, at most


def once(command):
    """Milliseconds of wall clock from its start to its end, and of CPU."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise Failure(f"{' '.join(command)}: exited with {child.returncode}")
    return ((time.monotonic() - begin) * 1e3,
            (used.ru_utime + used.ru_stime) * 1e3)


def small(session):
    """A data set that takes no time: what remains is the start."""
    path = os.path.join(session.data, 'start')
    if not os.path.isdir(path):
        session.run([session.weir, 'gen', 'tensors', path, '--samples', '8'])
    return path


def compare(session, name, arguments):
    """Rounds of this weir, the earlier one (if any) and /bin/true."""
    commands = {'now': [session.weir, *arguments], '/bin/true': ['/bin/true']}
    if session.before:
        commands['before'] = [session.before, *arguments]
    times = {who: [] for who in commands}
    cpu = {who: [] for who in commands}
    for i in range(session.pick(200, 20, 2) + 1):
        for who, command in commands.items():
            took, used = once(command)
            if i: # the first one reads from the disk
                times[who].append(took)
                cpu[who].append(used)
    middle = {who: statistics.median(t) for who, t in times.items()}
    notes = ['; '.join(f'{who} {middle[who]:.2f} ms, CPU '
                       f'{statistics.median(cpu[who]):.2f} ms'
                       for who in commands)]
    if not session.before:
        return Row(f'start: {name}', '', f"{middle['now']:.2f} ms", None,
                   notes)
    ratio = statistics.median(
        a / b for a, b in zip(times['now'], times['before']))
    return Row(f'start: {name}', f'<= {SLOWER:.2f} x before', f'{ratio:.3f}',
               ratio <= SLOWER, notes)


def measure(session):
    bench = ['bench', small(session), '--batches', '1', '-r', '2',
             '--no-limits', '-q']
    return [compare(session, 'weir --help', ['--help']),
            compare(session, 'weir bench, 8 samples', bench)]
