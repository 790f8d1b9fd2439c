# million.py - a tree of a million files: indexed, and opened again.
# SPDX-License-Identifier: Apache-2.0
#
# The files are empty: what is measured is names and sizes, as find reads them.
import json
import os
import shutil
import statistics
import subprocess
import time

from lib.report import Row
from lib.session import Failure

FOLDERS = 1000, 10, 1 # of each scale
FILES = 1000 # in each folder
RATE_BAR, OPEN_BAR_MS, MEMORY_BAR = 0.80, 50, 64
DROP = '/proc/sys/vm/drop_caches'
SETTLED_S = 3600 # an index of what changed just now is not kept


def make_folder(path, number):
    os.mkdir(path)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for k in range(FILES):
            name = f'n{number:08}_{k * 7919 % 100000}.JPEG'
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    finally:
        os.close(fd)


def make_older(*folders):
    then = time.time() - SETTLED_S
    for path in folders:
        os.utime(path, (then, then))


def tree(session):
    folders = session.pick(*FOLDERS)
    path = os.path.join(session.data, f'files-{folders * FILES}')
    if not os.path.isdir(path):
        session.say(f'making {folders * FILES:,} files')
        half = path + '.half' # an interrupted one is begun anew
        shutil.rmtree(half, ignore_errors=True)
        os.mkdir(half)
        for k in range(folders):
            make_folder(os.path.join(half, f'n{k:08}'), k)
        make_older(half, *(e.path for e in os.scandir(half)))
        os.rename(half, path)
        os.sync() # what is not written yet cannot be dropped
    return path, folders * FILES


def opened(session, *args):
    helper = os.path.join(os.path.dirname(session.weir), 'bench', 'bench-open')
    if not os.access(helper, os.X_OK):
        raise Failure(f"no '{helper}': run make bench")
    return json.loads(session.run([helper, *args], quiet=True).stdout)


def seconds_of(function, *args):
    start = time.monotonic()
    function(*args)
    return time.monotonic() - start


def find(path):
    if subprocess.run(['find', path, '-printf', '%s\n'], check=False,
                      stdout=subprocess.DEVNULL).returncode != 0:
        raise Failure('find failed')


def drop_dentries():
    with open(DROP, 'w', encoding='ascii') as f:
        f.write('2\n')


def rates(session, path, count, before):
    """Files per second of find and of weir, one after the other, in rounds;
    `before` is called before each."""
    pairs = []
    for k in range(session.rounds(5, 2)):
        before()
        found = seconds_of(find, path)
        before()
        indexed = seconds_of(opened, session, path)
        if k > 0: # the first is a warm-up
            pairs.append((count / found, count / indexed))
    return pairs


def rate_row(pairs, what):
    ratio = statistics.median(w / f for f, w in pairs)
    return Row(what, f'>= {RATE_BAR:.2f} of find -printf %s', f'{ratio:.2f}',
               ratio >= RATE_BAR,
               [f'{statistics.median(w for _, w in pairs):,.0f} files/s; find '
                f'{statistics.median(f for f, _ in pairs):,.0f}'])


def reopen_rows(session, path, count):
    folder = os.path.join(session.out, 'index')
    opened(session, path, folder) # kept here
    runs = [opened(session, path, folder)
            for _ in range(session.rounds(9, 3))]
    if not all(r['reused'] and r['samples'] == count for r in runs):
        raise Failure('the index was not reused: did the files just change?')
    ms = 1000 * statistics.median(r['seconds'] for r in runs)
    size = runs[0]['memory_bytes'] / count
    session.save('million', {'runs': runs})
    return [Row(f'{count:,} files opened again, warm',
                f'< {OPEN_BAR_MS} ms', f'{ms:.1f} ms', ms < OPEN_BAR_MS,
                ['checksum, validation and a look at every folder included']),
            Row('memory of the index', f'< {MEMORY_BAR} bytes per sample',
                f'{size:.1f} bytes', size < MEMORY_BAR)]


def measure(session):
    path, count = tree(session)
    rows = [rate_row(rates(session, path, count, lambda: None),
                     f'{count:,} files indexed, warm')]
    what = f'{count:,} files indexed, dentries and inodes cold'
    if os.access(DROP, os.W_OK) and not session.smoke: # other tests run too
        rows.append(rate_row(rates(session, path, count, drop_dentries), what))
    else:
        rows.append(Row(what, f'>= {RATE_BAR:.2f} of find -printf %s', '-',
                        None, ['dropping them needs root' if not session.smoke
                         else 'not dropped in a smoke test']))
    return rows + reopen_rows(session, path, count)
