# plan_scale.py - what simulating a cluster costs, and what lumping changes.
# SPDX-License-Identifier: Apache-2.0
import os
import statistics

from lib.report import Row
from lib.session import Failure

ACCELERATORS = 8 # of a node, as bench/plan_scale.c has it
VARY = 20 # percent
SECONDS_BAR, BYTES_BAR, ALIKE_BAR = 60, 1e9, 0.01


class Simulated:
    """What bench-plan-scale says of one run."""

    def __init__(self, session, nodes, steps, vary, lump):
        tool = os.path.join(os.path.dirname(session.weir), 'bench',
                            'bench-plan-scale')
        out = session.run([tool, str(nodes), str(steps), str(vary),
                           str(int(lump))], quiet=True)
        took, peak, seconds, lumped = out.stdout.split()
        self.took, self.peak = float(took), float(peak)
        self.seconds, self.lumped = float(seconds), lumped == '1'


def cost(session, nodes, steps, vary, how):
    runs = [Simulated(session, nodes, steps, vary, True)
            for _ in range(session.rounds(3, 1))]
    took = statistics.median(r.took for r in runs)
    peak = max(r.peak for r in runs)
    if len({r.seconds for r in runs}) != 1:
        raise Failure('the same seed gave different results')
    return Row(
        f'simulating {nodes:,} nodes x {ACCELERATORS} accelerators x '
        f'{steps:,} steps, {how}',
        f'< {SECONDS_BAR} s, < {BYTES_BAR / 1e9:.0f} GB',
        f'{took:.2f} s, {peak / 1e6:,.0f} MB',
        took < SECONDS_BAR and peak < BYTES_BAR)


def alike(session, nodes, steps, vary, how):
    lumped = Simulated(session, nodes, steps, vary, True)
    each = Simulated(session, nodes, steps, vary, False)
    if not lumped.lumped or each.lumped:
        raise Failure('what should be lumped was not, or the other way round')
    ratio = lumped.seconds / each.seconds
    return Row(
        f'{nodes} nodes, lumped over every accelerator simulated, {how}',
        f'1 within {ALIKE_BAR:.0%}', f'{ratio:.4f}',
        abs(ratio - 1) <= ALIKE_BAR,
        [f'{lumped.took:.3f} s to compute, unlumped {each.took:.3f} s'])


def measure(session):
    nodes = session.pick(10000, 10000, 100)
    steps = session.pick(1000, 100, 10)
    ways = (0, 'nodes alike'), (VARY, f'reads vary by {VARY} %')
    return ([cost(session, nodes, steps, *way) for way in ways]
            + [alike(session, 100, steps, *way) for way in ways])
