# accelerator.py - how exactly emulated accelerators keep their steps.
# SPDX-License-Identifier: Apache-2.0
import os

from lib.report import Row

OFF_BAR = 0.1 # ms
CPU_BAR = 0.01 # of one core
# Name, batch, seconds: from the paper's accelerator to steps of 5 ms.
CASES = (('K4000', 64, 15), ('K80', 64, 10), ('P100', 16, 10))


def one(session, name, batch, seconds):
    """One row: steps back to back."""
    tool = os.path.join(os.path.dirname(session.weir), 'bench',
                        'bench-accelerator')
    out = session.run([tool, name, str(batch),
                       str(session.pick(seconds, 3, 0))], quiet=True)
    nominal, mean, median, p99, cpu = map(float, out.stdout.split())
    off = max(abs(mean - nominal), median)
    return Row(f'emulated {name}, batch {batch}: steps of {nominal:,.2f} ms',
               f'within {OFF_BAR} ms, CPU < {CPU_BAR:.0%} of a core',
               f'{off:.3f} ms, {cpu:.3%}', off <= OFF_BAR and cpu < CPU_BAR,
               [f'mean {mean:,.3f} ms; one step is off by {median:.3f} ms '
                f'(median), {p99:.3f} ms (p99)'])


def measure(session):
    return [one(session, *case) for case in CASES]
