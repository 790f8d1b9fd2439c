# convert.py - pictures to TFRecord: against a plain copy of the same bytes.
# SPDX-License-Identifier: Apache-2.0
#
# A conversion is synced to the medium before it ends, so the copies are synced
# as well; the faster one counts: 'cp -r' of the tree, or 'cat' of all files
# into one. All of them read from RAM and write beside each other.
import glob
import os
import shlex
import shutil
import statistics
import time

from lib.report import Row

BAR = 0.80
PICTURES = 10000, 256, 16 # of each scale


def timed(session, command):
    start = time.monotonic()
    session.run(command)
    return time.monotonic() - start


def scripts(session, data, folder):
    """What is compared, by name."""
    names = os.path.join(folder, 'names')
    files = sorted(glob.glob(os.path.join(data, '**', '*.jpg'),
                             recursive=True))
    with open(names, 'w', encoding='utf-8') as f:
        f.write('\0'.join(files))
    source, tree, one = map(shlex.quote, (
        data, os.path.join(folder, 'tree'), os.path.join(folder, 'one')))
    return {
        'cp -r': ['sh', '-c', f'cp -r {source} {tree} && sync -f {tree}'],
        'cat': ['sh', '-c',
                f'xargs -0 cat < {shlex.quote(names)} > {one} && sync {one}'],
        'weir': [session.weir, 'convert', data,
                 os.path.join(folder, 'records'), '--to', 'tfrecord', '-q',
                 '--no-index-cache'],
    }


def clear(session, folder):
    for name in ('tree', 'records'):
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    if os.path.exists(os.path.join(folder, 'one')):
        os.remove(os.path.join(folder, 'one'))
    if not session.smoke:
        os.sync() # nobody pays for what another one has left


def measure(session):
    data = session.data_set('imagenet', session.pick(*PICTURES))
    folder = os.path.join(session.out, 'convert')
    os.makedirs(folder, exist_ok=True)
    session.warm(data)
    rounds = []
    try:
        for _ in range(1 + session.rounds(5)): # the first one warms up
            times = {}
            for name, command in scripts(session, data, folder).items():
                clear(session, folder)
                times[name] = timed(session, command)
            rounds.append(times)
    finally:
        clear(session, folder)
        shutil.rmtree(folder, ignore_errors=True)
    rounds = rounds[1:]
    session.save('convert', rounds)
    ratio = statistics.median(min(t['cp -r'], t['cat']) / t['weir']
                              for t in rounds)
    medians = {n: statistics.median(t[n] for t in rounds) for n in rounds[0]}
    return [Row('JPEGs converted to TFRecord, warm, synced',
                f'>= {BAR:.2f} of the faster copy', f'{ratio:.3f}',
                ratio >= BAR,
                ['; '.join(f'{n} {s:.2f} s' for n, s in medians.items())
                 + ', each with its sync'])]
