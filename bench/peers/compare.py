# compare.py - weir and its peers at the same work, side by side.
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..'))

import show
import table
from field import KEYS, Field
from lib import options
from lib.session import Failure

ROUNDS = 5
PEERS = list(dict.fromkeys(p.key for p in table.ALL))


def parse(argv):
    p = options.common(
        'bench/peers/run.sh', 'Runs weir and other loaders '
        'at the same work on the same data, in turn, and prints how far weir '
        'is ahead. The peers from PyPI are installed below OUT on first use. '
        "Each peer's best settings are searched first. Keep the machine idle "
        'meanwhile.')
    options.add_choice(p, '--only', 'PEER', PEERS, 'only these')
    options.add_choice(p, '--case', 'CASE', list(table.CASES),
                       'only this work')
    p.add_argument('--rounds', type=int, metavar='N',
                   help=f'rounds that count (default: {ROUNDS})')
    p.add_argument('--weir-options', default='', metavar='OPTIONS',
                   help="more options of 'weir bench'")
    p.add_argument('--no-install', action='store_true',
                   help='only the peers that are installed')
    args = p.parse_args(argv)
    args.only = options.chosen(args.only, PEERS)
    args.case = options.chosen(args.case, table.CASES)
    return args


def search(ground, peer, case):
    """One key after the other, the best value kept. Returns the settings and
    all rates."""
    best, tried = {k: v[0] for k, v in peer.search.items()}, []
    if ground.quick:
        return best, tried

    def rate(settings):
        found = ground.run_peer(peer, case, settings, '--batches',
                                case.search_batches, '--epochs', case.epochs)
        tried.append({'settings': settings, 'rate': found['samples_per_s']})
        return found['samples_per_s']

    for key, values in peer.search.items():
        rates = {v: rate({**best, key: v}) for v in values}
        best[key] = max(rates, key=rates.get)
        ground.say(f'{peer.name}: {key}: ' + ', '.join(
            f'{v}: {r:,.0f}' for v, r in rates.items()) + ' images/s')
    return best, tried


class Contest:
    """One case: weir in each layout that a peer has, and the peers."""

    def __init__(self, ground, name, peers):
        self.ground = ground
        self.name = name
        self.case = table.CASES[name]
        self.peers = []
        self.missing = []
        for peer in peers:
            try:
                self.peers.append((peer, ground.version_of(peer)))
            except Failure as e:
                why = str(e).splitlines()[0]
                self.missing.append((peer, why))
                ground.say(f'{peer.name}: left out: {why}')
        self.settings = {} # peer name: (settings, tried)
        self.runs = {} # layout or peer name: [run]
        self.memory = {} # the same: peak
        self.failed = {} # the same: why

    def attempt(self, who, function, *args):
        """A contestant that fails is named and takes no further part."""
        if who in self.failed:
            return None
        try:
            return function(*args)
        except Failure as e:
            self.failed[who] = str(e)
            self.ground.say(f'{self.name}: {who}: FAILED: {e}')
            return None

    def layouts(self):
        """Layout: a peer that has it. A smoke test runs weir in the layouts
        of peers that are not installed, too."""
        absent = self.missing if self.ground.smoke else []
        return {p.layout: p for p, _ in [*absent, *self.peers]}

    def prepare(self):
        for peer, _ in self.peers:
            found = self.attempt(peer.name, search, self.ground, peer,
                                 self.case)
            self.settings[peer.name] = found or ({}, [])

    def round(self):
        for layout, peer in self.layouts().items():
            run = self.attempt('weir ' + layout, self.ground.run_weir,
                               self.name, self.case, layout, peer)
            if run:
                self.runs.setdefault('weir ' + layout, []).append(run)
        for peer, _ in self.peers:
            run = self.attempt(peer.name, self.ground.run_peer, peer,
                               self.case, self.settings[peer.name][0],
                               '--epochs', self.ground.pick(
                                   self.case.epochs, self.case.epochs, 1))
            if run:
                self.runs.setdefault(peer.name, []).append(run)

    def watch(self):
        """Memory, and weir's start, in runs of their own."""
        ground = self.ground
        for layout, peer in self.layouts().items():
            which = (self.name, self.case, layout, peer)
            who = 'weir ' + layout
            ever = [self.attempt(who, ground.weir_first_ever, *which)
                    for _ in self.runs.get(who, ())]
            for run, ms in zip(self.runs.get(who, ()), ever):
                run['first_ever_ms'] = ms
            self.memory[who] = self.attempt(who, self.watch_weir, *which)
        for peer, _ in self.peers:
            self.memory[peer.name] = self.attempt(peer.name, self.watch_peer,
                                                  peer)

    def watch_weir(self, *which):
        return self.ground.watched(self.ground.weir_command(*which))

    def watch_peer(self, peer):
        return self.ground.watched(self.ground.peer_command(
            peer, self.case, self.settings[peer.name][0]))

    def summary(self, who):
        """Medians of a contestant; None when it failed."""
        if who in self.failed or who not in self.runs:
            return None
        found = {k: statistics.median(r[k] for r in self.runs[who])
                 for k in (*KEYS, 'first_ever_ms')}
        return {**found, **self.memory[who]}

    def results(self):
        return [{'case': self.name, 'peer': peer.name, 'version': version,
                 'layout': peer.layout,
                 'settings': self.settings[peer.name][0],
                 'search': self.settings[peer.name][1],
                 'runs': self.runs.get(peer.name, []),
                 'weir_runs': self.runs.get('weir ' + peer.layout, []),
                 'ours': self.summary('weir ' + peer.layout),
                 'theirs': self.summary(peer.name),
                 'failed': self.failed.get(peer.name)
                 or self.failed.get('weir ' + peer.layout),
                 'bars': {'speed': peer.speed_bar, 'cpu': peer.cpu_bar,
                          'memory': peer.memory_bar}}
                for peer, version in self.peers]


def run_case(ground, name, peers, rounds):
    """True when all that is installed could be run."""
    ground.say(f'{name}: {table.CASES[name].title}')
    contest = Contest(ground, name, peers)
    contest.prepare()
    for number in range(rounds):
        ground.say(f'{name}: round {number + 1} of {rounds}')
        contest.round()
    ground.say(f'{name}: memory')
    contest.watch()
    return contest


def measure(ground, args, results):
    complete = True
    for name in args.case:
        peers = [p for p in table.ALL if p.case == name and p.key in args.only]
        if not peers:
            continue
        contest = run_case(ground, name, peers,
                           args.rounds or ground.rounds(ROUNDS))
        results.put(contest.results(), contest.missing, ground)
        results.save()
        complete = complete and not contest.failed
    return complete


def main(argv):
    args = parse(argv)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    ground = Field(args)
    complete = True
    try:
        results = show.Results(ground.out, args.scale)
        if not args.last:
            ground.start()
            if not args.no_install:
                ground.install(dict.fromkeys(
                    p.venv for p in table.ALL if p.venv and p.key in args.only
                    and p.case in args.case))
            ground.use_auto()
            complete = measure(ground, args, results)
        elif not results.rows:
            raise Failure(f'no results in {ground.out}')
    except Failure as e:
        ground.say(f'FAILED: {e}')
        return 1
    except KeyboardInterrupt:
        ground.say('interrupted')
        return 130
    if ground.smoke:
        ground.say('a smoke test: the figures mean nothing')
    print(show.markdown(results) if args.markdown else show.text(results))
    if not complete:
        return 1
    return 3 if args.strict and results.is_short() else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
