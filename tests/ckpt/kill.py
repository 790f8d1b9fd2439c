#!/usr/bin/env python3
# kill.py - kill -9 at every system call of saving, draining, pruning, restoring.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: kill.py KILLSTEP PLAY [--every N] [--jobs N]
#
# Runs the short workloads again and again, killed before the first system call
# behind their mark, the second, and so on, of whatever name and in whatever
# thread, until they come to their end; and the long ones in wider steps. After each kill the store is opened as by a trainer that starts
# again: all that was promised must be there, nothing torn, leftovers gone, and
# once more for the slow tier alone.
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

ENDED = 3
SKIP = 77


def one(args, job, n, tmp):
    """Kills at call n. Returns (ended, calls, what is wrong)."""
    scenario, marked, _ = job
    place = tempfile.mkdtemp(dir=tmp)
    try:
        fast, slow, ledger = (f'{place}/{x}' for x in
                              ('fast', 'slow', 'ledger'))
        open(ledger, 'w').close()
        p = subprocess.run([args.killstep, *(['-m'] * marked), str(n),
                            args.play, 'run', scenario,
                            fast, slow, ledger], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
        if p.returncode == SKIP:
            print('SKIP:', p.stdout.strip())
            sys.exit(SKIP)
        if p.returncode not in (0, ENDED):
            return True, 0, f'killstep: {p.returncode} {p.stdout}'
        calls, how = 0, '0'
        if p.returncode == ENDED:
            calls, how = p.stdout.split()[-2:]
        if how != '0':
            return True, 0, f'the workload failed: {p.stdout}'
        wrong = check(args, scenario, fast, slow, ledger, place)
        return p.returncode == ENDED, int(calls), wrong
    finally:
        shutil.rmtree(place, ignore_errors=True)


def check(args, scenario, fast, slow, ledger, place):
    """None, or what is wrong after a kill."""
    if os.path.isdir(slow):
        shutil.copytree(slow, f'{place}/alone')
    for part, where in ((['far'], f'{place}/alone'), ([], slow)):
        if part and not os.path.isdir(where):
            continue
        with open(ledger) as said:
            p = subprocess.run(
                [args.play, 'check', scenario,
                 f'{place}/nothing' if part else fast, where, *part],
                stdin=said, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True)
        if p.returncode:
            return f"{' '.join(part)} {p.stdout.strip()}"
    return None


def walk(args, job, tmp, pool):
    """All kills of a workload; returns how many, and what went wrong."""
    n, wrong, kills, ended = 1, [], 0, False
    while not ended:
        block = range(n, n + 32 * job[2], job[2])
        for at, (end, _, bad) in zip(block, pool.map(
                lambda k: one(args, job, k, tmp), block)):
            ended |= end
            kills += not end
            if bad:
                wrong.append(f'killed at call {at}: {bad}')
        n = block[-1] + job[2]
        if len(wrong) > 20:
            break
    return kills, wrong


def names(args, which):
    return subprocess.run([args.play, which], stdout=subprocess.PIPE,
                          text=True, check=True).stdout.split()


def main():
    p = argparse.ArgumentParser()
    p.add_argument('killstep')
    p.add_argument('play')
    p.add_argument('--every', type=int, default=61,
                   help='of the long ones only every so many calls')
    p.add_argument('--jobs', type=int, default=os.cpu_count())
    args = p.parse_args()
    jobs = [(s, True, 1) for s in names(args, 'short')]
    jobs += [(s, False, args.every) for s in names(args, 'scenarios')]
    failed = False
    # A kill takes no power: memory does, and syncs cost nothing there.
    tmp = tempfile.mkdtemp(prefix='weir-kill-', dir=next(
        (d for d in ('/dev/shm',) if os.access(d, os.W_OK)), None))
    try:
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for job in jobs:
                kills, wrong = walk(args, job, tmp, pool)
                print(f'{job[0]}: killed {kills} times, {len(wrong)} wrong',
                      flush=True)
                for w in wrong[:10]:
                    print('  ', w)
                failed |= bool(wrong) or kills == 0
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
    sys.exit(failed)


if __name__ == '__main__':
    main()
