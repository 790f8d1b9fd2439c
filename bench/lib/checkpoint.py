# checkpoint.py - a checkpoint's bytes: copied, saved, restored, drained.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import tempfile

from lib.report import Row
from lib.session import Failure

PYTHON = '/usr/bin/python3' # Debian's own: it has Debian's torch
STALL, SYNC, RESTORE, DRAIN, TORCH = 1.3, 1.15, 0.9, 0.95, 3.0
SLOWER = 5.0 # per cent
BURST, ASYNC = 2.6, 20.0
MANY = 1.2 # times what a save costs with few steps


def run_tool(session):
    """{name: numbers} of bench-ckpt's lines."""
    tool = os.path.join(os.path.dirname(session.weir), 'bench', 'bench-ckpt')
    size = session.pick([], [str(64 << 20)], [str(4 << 20)])
    with tempfile.TemporaryDirectory(dir=session.data) as folder:
        text = session.run([tool, folder, str(session.rounds(21, 3)), *size],
                           quiet=True).stdout
    lines = [line.split() for line in text.splitlines()]
    return {words[0]: [float(w) for w in words[1:]] for words in lines}


def torch_seconds(session, size):
    """Seconds of torch.save and fsync of the same bytes, or None and why."""
    script = os.path.join(os.path.dirname(__file__), 'torch_save.py')
    try:
        out = session.run([PYTHON, script, session.data, f'{size:.0f}',
                           str(session.rounds(5, 2))], quiet=True).stdout
    except Failure as e:
        return None, 'not compared with torch.save: ' + str(e).split('\n')[0]
    return float(out), None


def burst(session):
    """The paper's experiment, on an emulated Optane and hard disk."""
    few = session.pick([], ['--moments', '0'],
                       ['--moments', '0', '--like', 'small'])
    with tempfile.TemporaryDirectory(dir=session.data) as folder:
        text = session.run([session.weir, 'ckpt', 'bench', folder, '--json',
                            '--saves', str(session.rounds(5, 2)), '--warmups',
                            '1', *few], quiet=True).stdout
    stall = {c['way']: c['result']['stall_s'] for c in
             json.loads(text)['cases']}
    return [Row(f'burst buffer, {name}: stall against direct to slow',
                f'>= {bar:.1f} x less', f"{stall['slow'] / stall[way]:.1f}",
                stall['slow'] / stall[way] >= bar,
                [f"{stall['slow']:.2f} s to an emulated hard disk, "
                 f'{stall[way]:.3f} s'])
            for way, name, bar in (('burst', 'synchronous', BURST),
                                   ('async', 'asynchronous', ASYNC))]


def measure(session):
    found = run_tool(session)
    stall, sync, restore, drain = (
        found[name] for name in ('stall', 'sync', 'restore', 'drain'))
    sync_any, restore_any = found['sync-any'], found['restore-any']
    torch, why = torch_seconds(session, found['bytes'][0])
    rows = [
        Row('checkpoint stall', f'<= {STALL:.2f} x one memcpy',
            f'{stall[2]:.3f}', stall[2] <= STALL,
            [f'{stall[0] * 1e3:.0f} ms; memcpy {stall[1] * 1e3:.0f} ms']),
        Row('checkpoint sync', f'<= {SYNC:.2f} x plain O_DIRECT + fsync',
            f'{sync[2]:.3f}', sync[2] <= SYNC,
            [f'{sync[0] * 1e3:.0f} ms; plain {sync[1] * 1e3:.0f} ms', why]),
        Row('checkpoint sync, memory of malloc',
            f'<= {SYNC:.2f} x plain O_DIRECT + fsync', f'{sync_any[2]:.3f}',
            sync_any[2] <= SYNC,
            [f'{sync_any[0] * 1e3:.0f} ms; plain {sync_any[1] * 1e3:.0f} ms']),
        Row('checkpoint restore', f'>= {RESTORE:.2f} of plain O_DIRECT reads',
            f'{1 / restore[2]:.3f}', 1 / restore[2] >= RESTORE,
            [f'{restore[0] * 1e3:.0f} ms; plain {restore[1] * 1e3:.0f} ms']),
        Row('checkpoint restore, memory of malloc',
            f'>= {RESTORE:.2f} of plain O_DIRECT reads',
            f'{1 / restore_any[2]:.3f}', 1 / restore_any[2] >= RESTORE,
            [f'{restore_any[0] * 1e3:.0f} ms; plain '
             f'{restore_any[1] * 1e3:.0f} ms']),
        Row('checkpoint drain', f'>= {DRAIN:.2f} of the write speed',
            f'{1 / drain[2]:.3f}', 1 / drain[2] >= DRAIN,
            [f'to an emulated hard disk; {1 / drain[4]:.3f} beside a loop '
             'that computes on all cores']),
        Row('a loop on all cores beside the drain', f'< {SLOWER:.0f} % slower',
            f'{drain[3] * 100:.1f} %', drain[3] * 100 < SLOWER, []),
    ] + burst(session)
    if torch:
        ratio = torch / sync[0]
        rows.append(Row('checkpoint sync, torch.save',
                        f'>= {TORCH:.0f} x as fast', f'{ratio:.2f}',
                        ratio >= TORCH,
                        [f'torch.save and fsync {torch * 1e3:.0f} ms']))
    return rows


def many(session):
    """What a save costs when a store has many steps, and few."""
    tool = os.path.join(os.path.dirname(session.weir), 'bench',
                        'bench-ckpt-many')
    steps = session.pick('10000', '400', '30')
    text = session.run([tool, '10', steps], quiet=True).stdout
    rows = []
    for line in text.splitlines():
        name, numbers = line.split(': ')
        w = numbers.split()
        calls, cpu = float(w[4]), float(w[9])
        rows.append(Row(f'a save at {steps} steps against 10: {name}',
                        f'<= {MANY:.1f} x calls and CPU',
                        f'{calls:.3f} and {cpu:.3f}',
                        max(calls, cpu) <= MANY,
                        [f'{w[1]} and {w[2]} system calls, {w[6]} and {w[7]} '
                         'us of CPU per save']))
    return rows
