# emulator.py - what 'weir run' itself takes: steps without any I/O.
# SPDX-License-Identifier: Apache-2.0
import statistics

from lib import workload
from lib.report import Row

# Seconds of a step, the AU that must be reached, steps of a run.
STEPS = ((0.000375, 0.99, 8000), (0.0035, 0.998, 1000))
ALONE_US, TOGETHER_US = 10, 50
EMPTY_STEPS = 40000


def no_io(session, step_s, steps, accelerators=1, **how):
    """The record's figures of one run without I/O."""
    steps = session.pick(steps, steps // 4, 20)
    world = accelerators * how.get('ranks', 1)
    return workload.run(
        session, None, {'train.computation_time': step_s,
                        'dataset.num_files_train': steps * world},
        '-g', accelerators, **how)['result']


def shown(values, scale, unit):
    return (f'{min(values) * scale:,.2f} to {max(values) * scale:,.2f} {unit} '
            f'in {len(values)} runs')


# --- utilization ---


def arrangements(session):
    """Title, accelerators per process, how the processes are started."""
    yield '1 accelerator', 1, {}
    yield '8 accelerators in one process', 8, {}
    for launcher in workload.launchers(session):
        for ranks in 2, 4:
            yield (f'{ranks} ranks, {launcher}', 1,
                   {'ranks': ranks, 'launcher': launcher})


def use_row(session, step_s, bar, steps, arrangement):
    title, accelerators, how = arrangement
    runs = [no_io(session, step_s, steps, accelerators, **how)
            for _ in range(session.rounds(5))]
    au = [r['au'] for r in runs]
    middle = statistics.median(au)
    return Row(f'AU without I/O, steps of {step_s * 1e3:g} ms, {title}',
               f'>= {bar:.1%}', f'{middle:.2%}', middle >= bar,
               [f'{shown(au, 100, "%")}; {(1 / middle - 1) * step_s * 1e6:.1f} '
                'us of each step are the emulator\'s'])


# --- overhead ---


def us_per_step(result, world):
    return 1e6 * world / result['samples_per_s'] # a batch is one sample


def overhead_row(session, title, bar, accelerators, **how):
    world = accelerators * how.get('ranks', 1)
    took = [us_per_step(no_io(session, 0, EMPTY_STEPS, accelerators, **how),
                        world)
            for _ in range(session.rounds(7))]
    middle = statistics.median(took)
    return Row(f'overhead per step, nothing computed, {title}', f'< {bar} us',
               f'{middle:.1f} us', middle < bar, [shown(took, 1, 'us')])


def measure(session):
    rows = [overhead_row(session, '1 accelerator', ALONE_US, 1),
            overhead_row(session, '8 accelerators in one process', ALONE_US,
                         8)]
    rows += [overhead_row(session, f'2 ranks, {name}', TOGETHER_US, 1, ranks=2,
                          launcher=name)
             for name in workload.launchers(session)]
    rows += [use_row(session, *step, arrangement) for step in STEPS
             for arrangement in arrangements(session)]
    session.save('run-steps', [vars(r) for r in rows])
    return rows
