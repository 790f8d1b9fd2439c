# before.py - what the pipeline does now, against an earlier build of weir.
# SPDX-License-Identifier: Apache-2.0
#
# Both builds do the same work in turn, in rounds; who begins changes from round
# to round. The ratio of a row is the median of the rounds' own ratios, above 1
# where this build is better. Rounds are added while the bar lies between the
# quartiles of the ratios: one slow round of a neighbour decides nothing.
import copy
import glob
import os
import shutil
import statistics
import subprocess
import time

from lib import million, options, records, weir
from lib.jpeg import OUTPUT
from lib.report import Row

BAR = 0.98
ROUNDS, MOST_ROUNDS = 5, 15
DELAY_MS = 20
LATE = f'fault:delay={DELAY_MS}:'


class Figure:
    """One measured value. `lower`: smaller is better."""

    def __init__(self, value, unit, lower=False, cpu=None):
        self.value = value
        self.unit = unit
        self.lower = lower
        self.cpu = cpu # seconds per 1,000 samples, or None

    def gain(self, old):
        a, b = (old, self) if self.lower else (self, old)
        return a.value / b.value if b.value else 1

    def text(self):
        digits = 0 if self.value >= 1000 else 1 if self.value >= 10 else 2
        return f'{self.value:,.{digits}f} {self.unit}'


# --- work: a title, and a function that takes a session and gives figures by
# row ---


def case_of(session, data, options):
    record = weir.bench(session, 'before', data, '--no-limits',
                        '--no-index-cache', '--monitor', 0, '-r', 2, *options)
    return record.cases[0]


def feed(what, data, *options, key='samples_per_s'):
    """A run of 'weir bench'."""
    def work(session):
        case = case_of(session, data, options)
        return {what: Figure(case.median(key), 'samples/s',
                             cpu=case.median('cpu_s_per_1000'))}
    return what, work


def pictures(session, data):
    """The first row has more than its rate to show."""
    what = 'JPEG tree to f32 batches, warm, exact'

    def work(session):
        case = case_of(session, data, (*OUTPUT, '--batches',
                                       session.pick(16, 4, 2)))
        return {
            what: Figure(case.rate(), 'samples/s',
                         cpu=case.median('cpu_s_per_1000')),
            'time to the first batch': Figure(
                case.median('first_batch_ms'), 'ms', lower=True),
            'peak memory of the process': Figure(
                case.median('peak_bytes') / 1e6, 'MB', lower=True),
        }
    return what, work


def with_tier(what, data, *options):
    """A folder in front of a slow device: the epoch that comes from it."""
    def work(session):
        tier = os.path.join(session.data, 'before-tier')
        shutil.rmtree(tier, ignore_errors=True)
        os.makedirs(tier)
        try:
            _, run = feed(what, data, '--page-cache', 'asis', '--epochs', 2,
                          '--cache', f'{tier}:8GiB', *options,
                          key='last_epoch_per_s')
            return run(session)
        finally:
            shutil.rmtree(tier, ignore_errors=True)
    return what, work


def converted(what, data, *options):
    def work(session):
        target = os.path.join(session.data, 'before-converted')
        command = [session.weir, 'convert', data, target, '-q',
                   '--no-index-cache', *options]
        begin = time.monotonic()
        try:
            session.run(command, quiet=True)
            return {what: Figure(time.monotonic() - begin, 's', lower=True)}
        finally:
            shutil.rmtree(target, ignore_errors=True)
    return what, work


def indexed(what, path, prepare=None):
    def work(session):
        if prepare:
            prepare()
        found = million.opened(session, path)
        return {what: Figure(found['samples'] / found['seconds'], 'files/s')}
    return what, work


def opened_again(path):
    """Each build keeps an index of its own. The memory is no measurement, and
    has no noise."""
    what = 'the same, opened again'

    def work(session):
        folder = os.path.join(session.out, 'index-' + session.role)
        runs = [million.opened(session, path, folder) for _ in range(4)]
        last = min(runs[1:], key=lambda r: r['seconds'])
        return {
            what: Figure(last['seconds'] * 1e3, 'ms', lower=True),
            'the same, memory of the index': Figure(
                last['memory_bytes'] / last['samples'], 'bytes a sample',
                lower=True),
        }
    return what, work


# --- the rows ---


def zipped(session):
    """A part of the pictures in gzip shards, made once."""
    path = session.pictures() + '-gz'
    if not os.path.isdir(path):
        session.say('making gzip shards')
        half = path + '.half'
        shutil.rmtree(half, ignore_errors=True)
        session.run([session.weir, 'convert', session.pictures(), half, '--to',
                     'tfrecord', '--shard-size', '8MiB', '-q', '--holdout',
                     session.pick('0.25', '0.5', '0.5'), '--part',
                     'held-out'])
        files = glob.glob(os.path.join(half, '*.tfrecord'))
        subprocess.run(['gzip', '-1', *files], check=True)
        os.rename(half, path)
    return path


def picture_rows(session):
    data = session.pictures()
    few = '--batches', session.pick(16, 4, 2)
    cold = '--page-cache', 'cold'
    yield pictures(session, data)
    yield feed('JPEG tree, warm, fast', data, *OUTPUT, *few, '--decode',
               'fast')
    yield feed('JPEG tree, cold, exact', data, *OUTPUT, *few, *cold)
    yield feed('JPEG tree, cold, fast', data, *OUTPUT, *few, *cold, '--decode',
               'fast')
    yield feed('JPEG tree, random crops and flips', data, '--size', '224x224',
               *few, '--crop', 'random', '--flip')
    yield feed('reading only, cold, 4 x 16 direct', data, '--stages', 'read',
               '-t', 4, '-d', 16, '--direct', *cold)
    yield feed('reading only, warm', data, '--stages', 'read',
               '--epochs', session.rounds(16, 2))


def tensor_rows(session):
    data = session.tensors()
    epochs = '--epochs', session.rounds(4)
    yield feed('raw u8 tensors to u8 batches, warm', data, '--dtype', 'u8',
               '--normalize', 'none', *epochs)
    yield feed('raw u8 tensors to f32 batches, warm', data, '--dtype', 'f32')
    yield feed('raw u8 tensors in order block, warm', data, '--dtype', 'u8',
               '--normalize', 'none', '--order', 'block', *epochs)


def record_rows(session):
    data = records.shards(session)
    few = '--batches', session.pick(16, 4, 2)
    read = '--stages', 'read', '--epochs', session.rounds(8, 2)
    for order, depth in (('shuffle', 4), ('block', 32), ('sequential', 8)):
        yield feed(f'TFRecord, reading only, warm, {order}, depth {depth}',
                   data, *read, '--order', order, '-d', depth)
    yield feed('TFRecord, reading only, cold, block', data, '--stages', 'read',
               '--order', 'block', '--page-cache', 'cold')
    yield feed('TFRecord of JPEGs to f32 batches, warm, exact', data, *OUTPUT,
               *few, '--order', 'block')


def zipped_rows(session):
    data = zipped(session)
    read = '--stages', 'read', '--order'
    yield feed('gzip TFRecord, reading only, warm, sequential', data, *read,
               'sequential')
    yield feed('gzip TFRecord, reading only, cold, sequential', data, *read,
               'sequential', '--page-cache', 'cold')
    yield feed('gzip TFRecord, reading only, warm, block', data, *read,
               'block')
    yield feed('gzip TFRecord of JPEGs to f32 batches, block', data, *OUTPUT,
               '--order', 'block')
    yield feed(f'gzip TFRecord, the device answers {DELAY_MS} ms late', LATE + data,
               *OUTPUT, '--order', 'block', '--page-cache', 'asis')


def cache_rows(session):
    data = session.pictures()
    small = zipped(session)
    yield feed('cache of decoded samples in memory, last epoch', data,
               '--size', '224x224', '--dtype', 'u8', '--decode', 'fast',
               '--cache', 'ram:4GiB',
               '--cache-what', 'decoded', '--epochs', session.rounds(3, 2),
               key='last_epoch_per_s')
    yield with_tier('folder tier before a slow device, second epoch',
                    LATE + small, *OUTPUT, '--order', 'block')
    yield with_tier('folder tier of decoded samples, second epoch', small,
                    '--size', '224x224', '--dtype', 'u8', '--order', 'block',
                    '--cache-what', 'decoded')


def million_rows(session):
    path, count = million.tree(session)
    million.opened(session, path) # names and sizes are in memory now
    yield indexed(f'{count:,} files indexed, warm', path)
    if os.access(million.DROP, os.W_OK) and not session.smoke:
        yield indexed('the same, dentries and inodes cold', path,
                      million.drop_dentries)
    yield opened_again(path)


def convert_rows(session):
    session.warm(session.pictures())
    yield converted('JPEGs converted to TFRecord, warm, synced',
                    session.pictures(), '--to', 'tfrecord')
    yield converted('gzip TFRecord converted to tensors', zipped(session),
                    '--to', 'tensor', '--size', '64x64')


GROUPS = {
    'pictures': picture_rows,
    'tensors': tensor_rows,
    'records': record_rows,
    'gzip': zipped_rows,
    'caches': cache_rows,
    'million': million_rows,
    'convert': convert_rows,
}

# --- in turn ---


def is_open(rounds):
    """Whether one of the rows may still fall on either side of the bar."""
    for what in rounds[0]:
        gains = sorted(r[what][0].gain(r[what][1]) for r in rounds)
        quarter = len(gains) // 4
        if gains[quarter] < BAR <= gains[-1 - quarter]:
            return True
    return False


def in_turn(session, old, work):
    """Rounds of {row: (figure now, figure before)}."""
    rounds = []
    wanted = min(session.rounds(ROUNDS), session.most_rounds)
    while len(rounds) < wanted or (
            not session.quick and len(rounds) < session.most_rounds and
            is_open(rounds)):
        who = (session, old) if len(rounds) % 2 else (old, session)
        got = {s.role: work(s) for s in who}
        rounds.append({w: (got['now'][w], got['before'][w])
                       for w in got['now']})
    return rounds


def row_of(what, rounds):
    now, before = zip(*(r[what] for r in rounds))
    ratio = statistics.median(n.gain(b) for n, b in zip(now, before))
    best = min if now[0].lower else max
    peaks = [best(figures, key=lambda f: f.value) for figures in (now, before)]
    notes = [f'{peaks[0].text()}, before {peaks[1].text()} at best; ratio of '
             f'the best {peaks[0].gain(peaks[1]):.3f}; {len(rounds)} rounds']
    if now[0].cpu and min(b.cpu for b in before):
        cpu = statistics.median(n.cpu / b.cpu for n, b in zip(now, before))
        notes.append(f'CPU per sample {cpu:.3f} of before')
    return Row(what, f'>= {BAR:.2f} of before', f'{ratio:.3f}', ratio >= BAR,
               notes)


def measure(session):
    if not session.before and not session.smoke:
        session.say('before: left out: no --before')
        return []
    old = copy.copy(session)
    old.weir = session.before or session.weir
    session.role, old.role = 'now', 'before'
    rows = []
    for group in options.chosen(session.groups, GROUPS):
        for title, work in GROUPS[group](session):
            if session.match not in title:
                continue
            rounds = in_turn(session, old, work)
            for what in rounds[0]:
                rows.append(row_of(what, rounds))
                session.say(f'{rows[-1].measured}  {what}')
    return rows
