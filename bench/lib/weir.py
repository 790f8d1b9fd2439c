# weir.py - runs 'weir bench' and reads its record.
# SPDX-License-Identifier: Apache-2.0
import csv
import json
import math
import statistics

from lib.session import Failure

COLD_AT_MOST, WARM_AT_LEAST = 0.01, 0.99


class Case:
    """One combination of settings and its counted runs."""

    def __init__(self, case):
        self.settings = case['settings']
        self.runs = case['runs'][case['warm_up_runs']:]
        self.warm_up_runs = case['warm_up_runs']
        self.bad_count = case['bad_count']

    def each(self, key):
        return [run[key] for run in self.runs]

    def median(self, key):
        return statistics.median(self.each(key))

    def rate(self):
        return self.median('samples_per_s')

    def of(self, key, other=None):
        """Median over the rounds of this rate as a part of `key` of the same
        round, of this case or of another one."""
        pairs = zip(self.runs, (other or self).runs)
        return statistics.median(a['samples_per_s'] / b[key]
                                 for a, b in pairs if b[key] > 0)

    def doubt(self):
        """Why the case is not what was asked for; '' when it is."""
        resident = self.each('resident')
        if self.bad_count:
            return f'{self.bad_count} bad samples'
        if self.settings['page_cache'] == 'cold' and not self.settings['direct'] \
                and max(resident) > COLD_AT_MOST:
            return f'not cold: {max(resident):.0%} resident'
        if self.settings['page_cache'] == 'warm' and \
                0 <= min(resident) < WARM_AT_LEAST:
            return f'not warm: {min(resident):.0%} resident'
        return ''


def quantile(values, q):
    """The smallest value that a part q of all does not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(q * len(ordered)) - 1, 0)]


def put_gaps(cases, path):
    """Replaces the record's quantiles of the gaps, which come from a
    histogram, by exact ones from the times of all batches."""
    times = {}
    with open(path, encoding='utf-8', newline='') as f:
        for line in csv.DictReader(f):
            key = int(line['case']), int(line['round'])
            times.setdefault(key, []).append(float(line['at_ms']))
    for k, case in enumerate(cases):
        for i, run in enumerate(case.runs):
            at = times[k, i + case.warm_up_runs]
            gaps = [b - a for a, b in zip(at, at[1:])]
            run['gap_p50_ms'] = quantile(gaps, 0.50)
            run['gap_p99_ms'] = quantile(gaps, 0.99)


class Record:
    def __init__(self, json_record):
        self.cases = [Case(c) for c in json_record['cases']]

    def find(self, **settings):
        for case in self.cases:
            if all(case.settings[k] == v for k, v in settings.items()):
                return case
        raise Failure(f'the record has no case {settings}')

    def doubts(self):
        return sorted({c.doubt() for c in self.cases} - {''})


def bench(session, name, data, *options, sample=False):
    """Runs 'weir bench DATA OPTIONS', keeps the record as `name`; returns it
    and, with sample, the peak memory of the process."""
    path = session.record_path(name)
    times = path[:-len('.json')] + '.csv'
    done = session.run([session.weir, 'bench', data, '-o', path, '--csv',
                        times, '-b', str(session.batch),
                        *map(str, options)], sample=sample)
    with open(path, encoding='utf-8') as f:
        json_record = json.load(f)
    session.host = json_record['host']
    record = Record(json_record)
    put_gaps(record.cases, times)
    return (record, done.peak) if sample else record
