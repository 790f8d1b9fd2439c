# peers.py - weir and each peer at the same work: speed and memory.
# SPDX-License-Identifier: Apache-2.0
import importlib.util
import json
import os
import statistics
import sys

from lib import jpeg, weir
from lib.report import Row
from lib.session import Failure

FOLDER = os.path.join(os.path.dirname(__file__), '..', 'peers')
KEYS = ('samples_per_s', 'cpu_s_per_1000', 'first_batch_ms', 'gap_p50_ms',
        'gap_p99_ms')


def table():
    spec = importlib.util.spec_from_file_location(
        'peer_table', os.path.join(FOLDER, 'table.py'))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module # dataclass looks its module up
    spec.loader.exec_module(module)
    return module.PEERS


def command(peer, *options):
    return [sys.executable, '-B', os.path.join(FOLDER, peer.program),
            *map(str, options)]


def version_of(session, peer):
    """None when it cannot run here."""
    try:
        done = session.run(command(peer, '--probe'), quiet=True)
    except Failure:
        return None
    return json.loads(done.stdout)['version']


def run_peer(session, peer, workers, sample=False):
    data = session.pictures()
    session.warm(data)
    done = session.run(command(peer, '--data', data, '--batch', 64, '--size',
                               '224x224', '--workers', workers),
                       sample=sample)
    return json.loads(done.stdout), done.peak


def weir_options(session, peer, prefetch):
    return (*jpeg.OUTPUT, '--layout', peer.layout, '-t', session.cores,
            '--no-limits', '-r', 2, '-p', prefetch)


def best_workers(session, peer):
    rates = {n: run_peer(session, peer, n)[0]['samples_per_s']
             for n in peer.workers}
    session.say(f'{peer.name}: images/s by workers: '
                + ', '.join(f'{n}: {r:.0f}' for n, r in rates.items()))
    return max(rates, key=rates.get), rates


def race(session, peer, workers):
    """Rounds of weir and the peer: their runs."""
    ours, theirs = [], []
    for number in range(session.rounds(5)):
        record = weir.bench(session, f'peer-{peer.name}-{number}',
                            session.pictures(),
                            *weir_options(session, peer, 1))
        ours += record.cases[0].runs
        theirs.append(run_peer(session, peer, workers)[0])
    return ours, theirs


def weir_memory(session, peer, prefetch):
    """Peak RSS of the process: the kernel's own mark, or what was seen."""
    record, peak = weir.bench(session, f'peer-memory-{prefetch}',
                              session.pictures(),
                              *weir_options(session, peer, prefetch),
                              sample=True)
    return max(max(record.cases[0].each('peak_bytes')), peak.rss_bytes)


def medians(runs):
    return {k: statistics.median(r[k] for r in runs) for k in KEYS}


def described(name, m):
    return (f"{name}: {m['samples_per_s']:,.0f} images/s, "
            f"{m['cpu_s_per_1000']:.2f} CPU s/1000, first batch "
            f"{m['first_batch_ms']:.0f} ms, gaps p99/p50 "
            f"{m['gap_p99_ms'] / m['gap_p50_ms']:.1f}")


def speed_row(peer, version, ours, theirs, workers):
    us, them = medians(ours), medians(theirs)
    ratio = us['samples_per_s'] / them['samples_per_s']
    return Row(f"weir's images/s over {peer.name}'s ({version})",
               f'>= {peer.speed_bar:.1f} x', f'{ratio:.2f} x',
               ratio >= peer.speed_bar,
               [described('weir', us),
                described(f'{peer.name}, {workers} workers (its best)', them)])


def memory_row(session, peer, workers):
    seen = run_peer(session, peer, workers, sample=True)[1]
    if not seen.pss_bytes:
        raise Failure(f'{peer.name}: its memory could not be read')
    one, two = (weir_memory(session, peer, p) for p in (1, 2))
    ratio = one / seen.pss_bytes
    return Row(f"weir's peak memory over {peer.name}'s",
               f'<= {peer.memory_bar:.2f} x', f'{ratio:.2f} x',
               ratio <= peer.memory_bar,
               [f'weir {one / 1e6:.0f} MB with prefetch 1, {two / 1e6:.0f} '
                f'with 2 (RSS); {peer.name} {seen.pss_bytes / 1e6:.0f} MB '
                f'(PSS of all its processes), {seen.rss_bytes / 1e6:.0f} '
                '(RSS)'])


def measure_one(session, peer):
    version = version_of(session, peer)
    if version is None:
        return [Row(f'against {peer.name}', f'>= {peer.speed_bar:.1f} x, '
                    f'<= {peer.memory_bar:.2f} x memory', 'not installed',
                    None, [f'make bench-peers installs {peer.packages}'])]
    workers, search = best_workers(session, peer)
    ours, theirs = race(session, peer, workers)
    session.save(f'peer-{peer.name}', {'version': version, 'search': search,
                                       'rounds': theirs})
    return [speed_row(peer, version, ours, theirs, workers),
            memory_row(session, peer, workers)]


def measure(session):
    return [row for peer in table() for row in measure_one(session, peer)]
