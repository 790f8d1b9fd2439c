#!/usr/bin/env python3
# kill.py - kill -9 at every system call of saving, draining, pruning, restoring.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: kill.py KILLSTEP PLAY [--scenario S] [--every N] [--jobs N]
#
# Runs each workload again and again, killed before its first system call, its
# second, and so on, of whatever name and in whatever thread, until it comes to
# its end. After each kill the store is opened as by a trainer that starts
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


def one(args, scenario, n, tmp):
    """Kills at call n. Returns (ended, calls, what is wrong)."""
    place = tempfile.mkdtemp(dir=tmp)
    try:
        fast, slow, ledger = (f'{place}/{x}' for x in
                              ('fast', 'slow', 'ledger'))
        open(ledger, 'w').close()
        p = subprocess.run([args.killstep, str(n), args.play, 'run', scenario,
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


def walk(args, scenario, tmp, pool):
    """All kills of a workload; returns how many, and what went wrong."""
    n, wrong, kills, ended = 1, [], 0, False
    while not ended:
        block = range(n, n + 32 * args.every, args.every)
        for at, (end, _, bad) in zip(block, pool.map(
                lambda k: one(args, scenario, k, tmp), block)):
            ended |= end
            kills += not end
            if bad:
                wrong.append(f'killed at call {at}: {bad}')
        n = block[-1] + args.every
        if len(wrong) > 20:
            break
    return kills, wrong


def main():
    p = argparse.ArgumentParser()
    p.add_argument('killstep')
    p.add_argument('play')
    p.add_argument('--scenario', action='append')
    p.add_argument('--every', type=int, default=1,
                   help='only every so many calls')
    p.add_argument('--jobs', type=int, default=os.cpu_count())
    args = p.parse_args()
    scenarios = args.scenario or subprocess.run(
        [args.play, 'scenarios'], stdout=subprocess.PIPE, text=True,
        check=True).stdout.split()
    failed = False
    tmp = tempfile.mkdtemp(prefix='weir-kill-')
    try:
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for s in scenarios:
                kills, wrong = walk(args, s, tmp, pool)
                print(f'{s}: killed {kills} times, {len(wrong)} wrong',
                      flush=True)
                for w in wrong[:10]:
                    print('  ', w)
                failed |= bool(wrong) or kills == 0
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
    sys.exit(failed)


if __name__ == '__main__':
    main()
