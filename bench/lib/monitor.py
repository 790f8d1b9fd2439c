# monitor.py - a long run under the monitor: size of its record, memory, cost.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import statistics

from lib.report import Row
from lib.session import Failure

RECORD_BAR = 5e6 # bytes
GROWTH_BAR = 0.01
CPU_BAR = 0.005 # of one core
# Small batches and nothing to decode: as many batches a second as it gets.
OPTIONS = ('--dtype', 'u8', '-b', '8', '--no-limits', '-r', '2')


def run(session, name, data, epochs):
    """A record as it is on disk: (its JSON, its size). The time of every batch
    is not asked for, which would take memory."""
    path = session.record_path(name)
    session.run([session.weir, 'bench', data, *OPTIONS, '--epochs',
                 str(epochs), '-o', path])
    with open(path, encoding='utf-8') as f:
        return json.load(f), os.path.getsize(path)


def epochs_for(session, data, seconds):
    """Epochs of a run that lasts half as long: there are two, the warm-up and
    the one that counts."""
    record, _ = run(session, 'monitor-short', data, 20)
    one = record['cases'][0]['runs'][1]['seconds'] / 20
    return max(1, round(1.1 * seconds / 2 / one)) # rather too long


def growth_of(rss):
    """Of resident memory, from the first quarter of a run to the last."""
    n = max(len(rss) // 4, 1)
    first, last = statistics.median(rss[:n]), statistics.median(rss[-n:])
    return last / first - 1, last


def growth_of_runs(record):
    """The largest growth within a run, and what is resident in the last one.
    Between runs the results of the one before are added, which are bounded."""
    machine = record['monitor']['machine']
    rows = list(zip(machine['t_s'], machine['rss_bytes']))
    found = []
    for run in record['cases'][0]['runs']:
        begin = run['start_s']
        within = [rss for t, rss in rows if begin < t < begin + run['seconds']]
        if within: # a run may be shorter than the monitor's interval
            found.append(growth_of(within))
    if not found:
        raise Failure('the runs were too short for the monitor: --seconds')
    return max(g for g, _ in found), found[-1][1]


def measure(session):
    data = session.tensors()
    record, size = run(session, 'monitor', data,
                       epochs_for(session, data, session.watched_s))
    session.host = record['host']
    monitor = record['monitor']
    lasted = monitor['machine']['t_s'][-1]
    growth, rss = growth_of_runs(record)
    share = monitor['cpu_s'] / lasted
    counted = record['cases'][0]['runs'][1]
    what = f'{lasted:,.0f} s under the monitor'
    return [
        Row(f'{what}: record', f'< {RECORD_BAR / 1e6:.0f} MB',
            f'{size / 1e6:.2f} MB', size < RECORD_BAR,
            [f"{sum(r['batches'] for r in record['cases'][0]['runs']):,} "
             f"batches, {counted['batch_times']['merged']} in a row; samples "
             f"at {monitor['hz']:g} Hz, {monitor['merged']} in a row"]),
        Row(f'{what}: growth of memory', f'< {GROWTH_BAR:.0%}',
            f'{growth:+.2%}', growth < GROWTH_BAR,
            [f'within a run, from its first quarter to its last, '
             f'{rss / 1e6:.1f} MB']),
        Row(f'{what}: its own CPU time', f'< {CPU_BAR:.1%} of a core',
            f'{share:.3%}', share < CPU_BAR),
    ]
