# reads.py - reading only, cold: weir against plain pread and fio.
# SPDX-License-Identifier: Apache-2.0
#
# A first sweep finds the best settings of each (the better of two passes, for
# it only chooses); the best few of both are then measured again in rounds, one
# after the other, and their medians compared.
import statistics
from dataclasses import dataclass

from lib import fio, weir
from lib.report import Row
from lib.session import Failure, need

BAR = 0.95
FINALISTS = 3
PASSES = 2


@dataclass(frozen=True)
class Setting:
    io: str
    threads: int
    depth: int
    direct: bool

    def __str__(self):
        return (f'weir {self.io} {self.threads} x {self.depth}'
                + (' direct' if self.direct else ''))

    def options(self):
        return ('--io', self.io, '-t', self.threads, '-d', self.depth,
                *(['--direct'] if self.direct else []))


def sweep_weir(session, data):
    """{setting: files/s} over engines, threads, depths, direct or not."""
    found = {}
    threads = session.pick('1,2,4,8', '2', '2')
    depths = session.pick('8,16,32,64,128', '32', '4')
    for io in ('uring', 'blocking'):
        for direct in (False, True):
            try:
                record = weir.bench(
                    session, f"read-sweep-{io}{'-direct' if direct else ''}",
                    data, '--stages', 'read', '--page-cache', 'cold',
                    '--no-limits', '-t', threads, '-d', depths, '-r',
                    1 + PASSES, '--io', io,
                    *(['--direct'] if direct else []))
            except Failure as e:
                skip(session, f'weir {io}', e)
                continue
            for c in record.cases:
                setting = Setting(io, c.settings['threads'],
                                  c.settings['depth'], direct)
                found[setting] = max(c.each('samples_per_s'))
    return found


def sweep_fio(session, data, files):
    found = {}
    for setting in fio.settings(session):
        try:
            found[setting] = max(fio.run(session, data, files, setting)
                                 for _ in range(PASSES))
        except Failure as e:
            skip(session, setting, e)
    return found


def skip(session, what, failure):
    """Not every kernel and file system has io_uring and direct reads."""
    session.say(f'read: {what} left out: {failure}')


def best_of(rates):
    return sorted(rates, key=rates.get, reverse=True)[:FINALISTS]


def run_weir(session, data, setting, name):
    """Files per second of weir and of plain pread in the same round."""
    case = weir.bench(session, name, data, '--stages', 'read', '--page-cache',
                      'cold', '-r', 2, *setting.options()).cases[0]
    return case.rate(), case.median('read_limit_per_s'), case.doubt()


def final(session, data, files, ours, theirs):
    """Rounds of all finalists: {name: [files/s]}, and doubts."""
    rates, doubts = {}, set()
    for number in range(session.rounds(7)):
        for k, setting in enumerate(ours):
            rate, pread, doubt = run_weir(session, data, setting,
                                          f'read-final-{number}-{k}')
            rates.setdefault(setting, []).append(rate)
            rates.setdefault('plain pread', []).append(pread)
            doubts.add(doubt)
        for setting in theirs:
            rates.setdefault(setting, []).append(
                fio.run(session, data, files, setting))
    return rates, sorted(doubts - {''})


def measure(session):
    need('fio')
    data = session.pictures()
    files = fio.files_below(data)
    session.touch(data)
    session.say('read: sweep of weir')
    ours = sweep_weir(session, data)
    session.say('read: sweep of fio')
    theirs = sweep_fio(session, data, files)
    if not ours or not theirs:
        raise Failure('weir or fio could not read at all')
    session.say('read: the best of both in rounds')
    rates, doubts = final(session, data, files, best_of(ours),
                          best_of(theirs))
    session.save('read', {
        'sweep': {str(s): r for s, r in {**ours, **theirs}.items()},
        'rounds': {str(s): r for s, r in rates.items()}})
    medians = {s: statistics.median(r) for s, r in rates.items()}
    us = max((s for s in medians if isinstance(s, Setting)), key=medians.get)
    them = max((s for s in medians if not isinstance(s, Setting)),
               key=medians.get)
    ratio = medians[us] / medians[them]
    return [Row('reading only, cold, best settings',
                f'>= {BAR:.2f} of best pread, fio', f'{ratio:.3f}',
                ratio >= BAR,
                [f'{us} {medians[us]:,.0f} files/s; {them} '
                 f'{medians[them]:,.0f}; plain pread '
                 f"{medians['plain pread']:,.0f}; every file was touched "
                 'once before', *doubts])]
