# trace.py - what tracing costs a program, beside the bare program.
# SPDX-License-Identifier: Apache-2.0
import os
import statistics

from lib.report import Row

READ_BAR = 100 # ns per pread of 4 KiB
FILE_BAR = 300 # ns per small file: open, read, close
FILES = 1000


def data(session):
    """A file of 1 MiB and a folder of small ones, in the page cache."""
    folder = os.path.join(session.data, 'trace')
    big = os.path.join(folder, 'big')
    if not os.path.exists(big):
        os.makedirs(folder, exist_ok=True)
        for i in range(FILES):
            with open(os.path.join(folder, f'f{i}'), 'wb') as f:
                f.write(b'x' * 2000)
        with open(big, 'wb') as f:
            f.write(b'x' * (1 << 20))
    return folder, big


def once(session, arguments, traced):
    program = os.path.join(os.path.dirname(session.weir), 'bench',
                           'bench-trace-io')
    command = [program, *map(str, arguments)]
    trace = os.path.join(session.data, 'trace.wtrace')
    if traced:
        command = [session.weir, 'trace', '-q', '-o', trace, '--', *command]
    try:
        return float(session.run(command).stdout)
    finally:
        if traced and os.path.exists(trace):
            os.remove(trace)


def compare(session, title, bar, arguments):
    """Rounds of both, one after the other; the median of the differences."""
    bare, cost = [], []
    for _ in range(session.pick(15, 5, 1)):
        without = once(session, arguments, False)
        bare.append(without)
        cost.append(once(session, arguments, True) - without)
    more = statistics.median(cost)
    return Row(f'trace: {title}', f'<= {bar} ns', f'{more:+.0f} ns',
               more <= bar, [f'bare {statistics.median(bare):.0f} ns; the '
                             f'differences {min(cost):+.0f} to '
                             f'{max(cost):+.0f} ns'])


def measure(session):
    folder, big = data(session)
    count = session.pick(2000000, 500000, 1000)
    rounds = session.pick(200, 50, 1)
    return [
        compare(session, 'pread of 4 KiB, 1 thread', READ_BAR,
                ('pread', big, 1, count)),
        compare(session, 'pread of 4 KiB, 2 threads', READ_BAR,
                ('pread', big, 2, count)),
        compare(session, 'small file: open, read, close', FILE_BAR,
                ('files', folder, FILES, rounds)),
    ]
