#!/usr/bin/env python3
# powercut.py - power cuts on real file systems: what a disk was told, replayed.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: powercut.py LOGFS PLAY FILESYSTEM [--states N] [--seed N] [--variant V]
#
# LOGFS serves a disk image and logs every write and flush; a loop device makes
# it a disk, FILESYSTEM (ext4, xfs) lies on that, and PLAY saves checkpoints in
# it, writing down what it was promised. Then the power is cut at sampled
# moments: of what was written since the last flush nothing, everything or some
# 4 KiB pieces are there. Each such disk is mounted, which replays the journal,
# and PLAY looks whether all that was promised is there and nothing is torn.
#
# The product must survive all of them; of the variants, each of which leaves out
# one thing that makes it safe, none may. Leaving out the sync of the folder that
# a step is written in shows on neither file system, whose journals are one for
# all; the simulated disk catches it.
#
# With WEIR_TEST_PART the product has a quarter of the moments, others for each
# part.
import argparse
import contextlib
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

PIECE = 4096
HEAD = struct.Struct('<cQI')
SIZES = {'ext4': 48 << 20, 'xfs': 320 << 20}
MKFS = {'ext4': ['mkfs.ext4', '-q', '-F', '-E', 'lazy_itable_init=0,'
                 'lazy_journal_init=0', '-J', 'size=4'],
        'xfs': ['mkfs.xfs', '-q', '-f', '-K']}
PART = os.environ.get('WEIR_TEST_PART')
PARTS = 4
ONLY_SIMULATED = ('no-tmpdirsync',)
SKIP = 77


class Failed(Exception):
    pass


def skip(why):
    print('SKIP:', why)
    sys.exit(SKIP)


def run(*argv, check=True):
    p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True)
    if check and p.returncode:
        raise Failed(f"{' '.join(argv)}: {p.stdout.strip()}")
    return p


@contextlib.contextmanager
def loop_device(path):
    dev = run('losetup', '--find', '--show', path).stdout.strip()
    try:
        yield dev
    finally:
        for _ in range(200):  # the kernel may still be closing it
            if run('losetup', '--detach', dev, check=False).returncode == 0:
                break
            time.sleep(0.05)


@contextlib.contextmanager
def mounted(dev, where):
    run('mount', dev, where)
    try:
        yield
    finally:
        for _ in range(200):
            if run('umount', where, check=False).returncode == 0:
                break
            time.sleep(0.05)


@contextlib.contextmanager
def logfs(program, image, log, where):
    p = subprocess.Popen([program, image, log, where])
    try:
        while not os.path.exists(where + '/disk'):
            if p.poll() is not None:
                skip('a FUSE file system cannot be mounted here')
            time.sleep(0.02)
        yield
    finally:
        run('umount', where, check=False)
        p.terminate()
        p.wait()


def record(args, tmp, variant):
    """Runs the workload; returns the image as it was before, and the log."""
    image, log, disk, fs = (f'{tmp}/{n}' for n in
                            ('image', 'log', 'disk', 'fs'))
    before = f'{tmp}/before'
    for d in (disk, fs):
        os.makedirs(d, exist_ok=True)
    with open(image, 'wb') as f:
        f.truncate(SIZES[args.filesystem])
    run(*MKFS[args.filesystem], image)
    with logfs(args.logfs, image, log, disk):
        with loop_device(disk + '/disk') as dev:
            with mounted(dev, fs):
                run('sync', '-f', fs)
                with open(disk + '/mark', 'w') as f:
                    f.write('start')
                run('cp', '--sparse=always', image, before)
                # A variant may notice by itself that it is broken.
                run(args.play, 'run', args.scenario, fs + '/fast',
                    fs + '/slow', disk + '/mark',
                    *([variant] * bool(variant)), check=not variant)
    return before, log


def read_log(path):
    """Writes, flushes and marks, in order."""
    out = []
    with open(path, 'rb') as f:
        while True:
            head = f.read(HEAD.size)
            if len(head) < HEAD.size:
                return out
            kind, offset, length = HEAD.unpack(head)
            out.append((kind, offset, f.read(length)))


def promises(log, upto):
    """What RUN had been promised: its marks, in order."""
    return ''.join(m.decode() for k, _, m in log[:upto] if k == b'M')


def pieces(log, since, upto):
    """The writes that no flush covers, cut into what a disk writes whole."""
    out = []
    for kind, offset, data in log[since:upto]:
        if kind != b'W':
            continue
        for at in range(0, len(data), PIECE):
            out.append((offset + at, data[at:at + PIECE]))
    return out


def points(log, rng, count):
    """Moments of the cut, rising: behind promises, behind flushes, others."""
    marks = {i + 1 for i, r in enumerate(log) if r[0] == b'M'}
    flushes = sorted({i + 1 for i, r in enumerate(log) if r[0] == b'F'} - marks)
    others = sorted(set(range(1, len(log) + 1)) - marks - set(flushes))
    chosen = set(marks)
    for more in (flushes, others):
        room = max(0, count - len(chosen))
        chosen |= set(rng.sample(more, min(len(more), room)))
        count += count // 4  # some of the others in any case
    return sorted(chosen)


def apply(path, writes):
    with open(path, 'r+b', buffering=0) as f:
        for offset, data in writes:
            f.seek(offset)
            f.write(data)


def check_state(args, tmp, image, said, part):
    """None, or what is wrong."""
    fs = tmp + '/fs'
    with loop_device(image) as dev:
        try:
            run('mount', dev, fs)
        except Failed as e:
            return f'cannot be mounted: {e}'
        try:
            p = subprocess.run([args.play, 'check', args.scenario,
                                fs + '/fast', fs + '/slow', *part],
                               input=said, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
            return None if p.returncode == 0 else p.stdout.strip()
        finally:
            for _ in range(200):
                if run('umount', fs, check=False).returncode == 0:
                    break
                time.sleep(0.05)


def subsets(rng, count, pending):
    """Which of the pending pieces are there: none, all, some."""
    yield []
    if not pending:
        return
    yield pending
    for _ in range(count):
        share = rng.random()
        yield [p for p in pending if rng.random() < share]


def explore(args, tmp, variant, limit, stop_at_first):
    """Cuts the power; returns states looked at and what was wrong."""
    rng = random.Random(args.seed)
    before, path = record(args, tmp, variant)
    log = read_log(path)
    durable, state = before, f'{tmp}/state'
    wrong, states, done = [], 0, 0  # `done`: records that are in `durable`
    for at in points(log, rng, limit):
        last = max((i for i in range(done, at) if log[i][0] == b'F'),
                   default=None)
        if last is not None:
            apply(durable, [(o, d) for k, o, d in log[done:last + 1]
                            if k == b'W'])
            done = last + 1
        pending = pieces(log, done, at)
        said = promises(log, at)
        for some in subsets(rng, 1, pending):
            run('cp', '--sparse=always', durable, state)
            apply(state, some)
            # The slow tier must do alone, too, for what it promised.
            bad = check_state(args, tmp, state, said, ['far'] * (states % 3 == 2))
            states += 1
            if bad:
                wrong.append(f'cut after record {at} of {len(log)}, '
                             f'{len(some)} of {len(pending)} pieces: {bad}')
                if stop_at_first:
                    return states, wrong
    return states, wrong


def parse():
    p = argparse.ArgumentParser()
    p.add_argument('logfs')
    p.add_argument('play')
    p.add_argument('filesystem', choices=sorted(SIZES))
    p.add_argument('--states', type=int, default=100,
                   help='moments of the cut, about')
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--scenario', default='burst')
    p.add_argument('--variant', help='this variant alone')
    return p.parse_args()


def check_machine(fs):
    if os.geteuid() != 0:
        skip('mounting file systems needs root')
    for tool in ('mkfs.' + fs, 'losetup', 'mount', 'umount', 'cp'):
        if not shutil.which(tool, path=os.environ['PATH'] +
                            ':/usr/sbin:/sbin'):
            skip(f'there is no {tool}')
    os.environ['PATH'] += ':/usr/sbin:/sbin'
    for dev in ('/dev/fuse', '/dev/loop-control'):
        if not os.path.exists(dev):
            skip(f'there is no {dev}')
    with open('/proc/filesystems') as f:
        if f'\t{fs}\n' not in f.read():
            skip(f'this kernel has no {fs}')


def main():
    args = parse()
    check_machine(args.filesystem)
    variants = [v for v in run(args.play, 'variants').stdout.split()
                if v not in ONLY_SIMULATED]
    failed = False
    # Told to end, it still cleans up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    tmp = tempfile.mkdtemp(prefix='weir-powercut-')
    try:
        if not args.variant:
            limit = args.states
            if PART:
                args.seed += int(PART) % PARTS
                limit //= PARTS
            states, wrong = explore(args, tmp, None, limit, False)
            print(f'{args.filesystem}: {states} states, {len(wrong)} wrong')
            for w in wrong[:10]:
                print('  ', w)
            failed = bool(wrong) or states == 0
        for v in [args.variant] if args.variant else variants:
            states, wrong = explore(args, tmp, v, args.states, True)
            print(f'{args.filesystem}, {v}: '
                  + (f'caught in state {states}: {wrong[0]}' if wrong
                     else f'NOT CAUGHT in {states} states'))
            failed |= not wrong
    except Failed as e:
        print(e)
        failed = True
    finally:
        for d in ('fs', 'disk'):
            run('umount', f'{tmp}/{d}', check=False)
        shutil.rmtree(tmp, ignore_errors=True)
    sys.exit(failed)


if __name__ == '__main__':
    main()
