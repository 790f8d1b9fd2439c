# text.py - CSV like CANDLE NT3's and JSON lines, against pandas and json.
# SPDX-License-Identifier: Apache-2.0
#
# weir's time for a file is that of `weir inspect`, which finds its rows without
# an index file, and of one epoch over it, warm; the peer reads it once.
import os
import statistics
import subprocess
import sys
import time

from lib import weir
from lib.report import Row
from lib.session import Missing

CSV_BAR, JSON_BAR = 5.0, 3.0
SCRIPT = os.path.join(os.path.dirname(__file__), 'text_load.py')


def need(*modules):
    if subprocess.run([sys.executable, '-c', 'import ' + ', '.join(modules)],
                      capture_output=True).returncode:
        raise Missing(f'no {" or ".join(modules)}: scripts/deps.sh bench '
                      'installs them')


def made(session, what, samples, count):
    """The file, made once."""
    path = os.path.join(session.data, f'text-{samples}-{count}.{what}')
    if not os.path.exists(path):
        os.makedirs(session.data, exist_ok=True)
        session.say(f'generating {samples} samples of {count} numbers as {what}')
        session.run([sys.executable, '-B', SCRIPT, what + '-make', path,
                     str(samples), str(count)])
    return path


def peer_seconds(session, what, path):
    out = session.run([sys.executable, '-B', SCRIPT, what, path,
                       str(session.rounds(3, 2))], quiet=True).stdout
    return statistics.median(map(float, out.split()))


def index_seconds(session, url):
    """Of the whole command."""
    seconds = []
    for _ in range(session.rounds(3, 2)):
        start = time.monotonic()
        subprocess.run([session.weir, 'inspect', url], check=True,
                       capture_output=True,
                       env={**os.environ, 'WEIR_INDEX_DIR': ''})
        seconds.append(time.monotonic() - start)
    return statistics.median(seconds)


def row(session, name, what, path, url, bar, peer):
    with open(path, 'rb') as f: # into the page cache
        while f.read(1 << 24):
            pass
    theirs = peer_seconds(session, what, path)
    index = index_seconds(session, url)
    case = weir.bench(session, 'text-' + what, url, '--epochs', 3, '-t',
                      session.cores, '-r', session.rounds(4, 2), '-b', 8
                      ).cases[0]
    samples = int(os.path.basename(path).split('-')[1])
    epoch = samples / case.rate()
    size = os.path.getsize(path)
    ratio = theirs / (index + epoch)
    return Row(name, f'>= {bar:.0f} times {peer}', f'{ratio:.1f}',
               ratio >= bar,
               [f'{size / 1e6:,.0f} MB: rows found in {index:.3f} s, an epoch '
                f'in {epoch:.3f} s ({size / epoch / 1e6:,.0f} MB/s) on '
                f'{session.cores} threads; {peer} {theirs:.2f} s', case.doubt()])


def measure(session):
    need('numpy', 'pandas')
    csv = made(session, 'csv', session.pick(1000, 200, 4),
               session.pick(60484, 60484, 600))
    jsonl = made(session, 'jsonl', session.pick(40000, 8000, 20), 784)
    return [row(session, 'CSV of 60,484 floats a row, warm', 'csv', csv,
                csv + '#label=1,header=no', CSV_BAR, 'pandas.read_csv'),
            row(session, 'JSON lines of 784 numbers, warm', 'jsonl', jsonl,
                jsonl, JSON_BAR, "Python's json")]
