# show.py - the comparison: kept as JSON, shown as text or Markdown.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import time

from lib.report import machine, path_of
from table import ALL, CASES

HEAD = ('loader', 'images/s', 'CPU s/1000', 'memory MB', 'own MB', 'RSS MB',
        'first batch ms', 'from start ms', 'p99/p50', 'speed', 'CPU',
        'memory', 'bars')
ORDER = [(p.case, p.name) for p in ALL]


class Results:
    """Rows by case and peer; a new run replaces only what it has measured."""

    def __init__(self, folder, scale):
        self.path = path_of(folder, scale)
        self.host = {}
        self.rows = []
        if os.path.exists(self.path):
            with open(self.path, encoding='utf-8') as f:
                kept = json.load(f)
            self.host, self.rows = kept['host'], kept['rows']

    def put(self, rows, missing, session):
        self.host = session.host or self.host
        rows += [{'case': p.case, 'peer': p.name, 'ours': None, 'theirs': None,
                  'failed': why} for p, why in missing]
        new = {(r['case'], r['peer']) for r in rows}
        for row in rows:
            row['when'] = time.strftime('%Y-%m-%d %H:%M')
            row['load'] = round(session.load_at_start, 2)
        self.rows = [r for r in self.rows
                     if (r['case'], r['peer']) not in new] + rows
        self.rows.sort(key=lambda r: ORDER.index((r['case'], r['peer'])))

    def save(self):
        with open(self.path + '.tmp', 'w', encoding='utf-8') as f:
            json.dump({'host': self.host, 'rows': self.rows}, f, indent=1)
            f.write('\n')
        os.replace(self.path + '.tmp', self.path)

    def is_short(self):
        return any(missed(r) for r in self.rows)

    def circumstances(self):
        when = sorted({r['when'][:10] for r in self.rows})
        return (f"measured {' to '.join(when[:1] + when[1:][-1:])}, load "
                f"before {max(r['load'] for r in self.rows):.1f}")


def ratios(row):
    """How many times weir is ahead: images/s, CPU, memory. Of the two ways to
    count memory the one that is worse for weir."""
    us, them = row['ours'], row['theirs']
    return {'speed': us['samples_per_s'] / them['samples_per_s'],
            'cpu': them['cpu_s_per_1000'] / us['cpu_s_per_1000'],
            'memory': min(them[k] / us[k] for k in ('pss_bytes',
                                                    'own_bytes'))}


def missed(row):
    """The bars that were not reached."""
    if not row['ours'] or not row['theirs']:
        return []
    found, bars = ratios(row), row['bars']
    wanted = {'speed': bars['speed'], 'cpu': bars['cpu'],
              'memory': 1 / bars['memory']}
    return [k for k, w in wanted.items() if found[k] < w]


def bars_of(row):
    bars = row['bars']
    return (f"{bars['speed']:g}, {bars['cpu']:g}, {1 / bars['memory']:g} x: "
            + (', '.join(missed(row)) + ' short' if missed(row) else 'ok'))


def figures(name, found):
    return [name, f"{found['samples_per_s']:,.0f}",
            f"{found['cpu_s_per_1000']:.3g}",
            f"{found['pss_bytes'] / 1e6:,.0f}",
            f"{found['own_bytes'] / 1e6:,.0f}",
            f"{found['rss_bytes'] / 1e6:,.0f}",
            f"{found['first_batch_ms']:,.0f}",
            f"{found['first_ever_ms']:,.0f}",
            f"{found['gap_p99_ms'] / found['gap_p50_ms']:.1f}"]


def lines_of(results, case):
    """weir once for each layout, then the peers; cells, one list a line."""
    rows = [r for r in results.rows if r['case'] == case]
    ours = {(r['layout'], json.dumps(r['ours'])): r['ours']
            for r in rows if r['ours']}
    lines = [figures(f'weir {layout}', found) + [''] * 4
             for (layout, _), found in ours.items()]
    for row in rows:
        if row['ours'] and row['theirs']:
            ahead = [f'{v:.2f} x' for v in ratios(row).values()]
            lines.append(figures(row['peer'], row['theirs']) + ahead
                         + [bars_of(row)])
        else:
            known = (figures(row['peer'], row['theirs']) if row['theirs']
                     else [row['peer']] + ['-'] * 8)
            why = (row['failed'] or 'failed').splitlines()[0][:60]
            lines.append(known + ['-'] * 3 + [why])
    return lines


def notes_of(results, case):
    return [f"{r['peer']} {r['version']}: "
            + ', '.join(f'{k} {v}' for k, v in r['settings'].items())
            for r in results.rows if r['case'] == case and r.get('version')]


def cases_of(results):
    return [c for c in CASES if any(r['case'] == c for r in results.rows)]


def text(results):
    out = [machine(results.host), results.circumstances()]
    for case in cases_of(results):
        lines = [list(HEAD), *lines_of(results, case)]
        widths = [max(len(line[i]) for line in lines)
                  for i in range(len(HEAD))]
        out += ['', CASES[case].title]
        for line in lines:
            cells = [c.ljust(w) if i in (0, len(HEAD) - 1) else c.rjust(w)
                     for i, (c, w) in enumerate(zip(line, widths))]
            out.append('  '.join(cells).rstrip())
        out += ['  ' + note for note in notes_of(results, case)]
    return '\n'.join(out)


def markdown(results):
    out = [f'{machine(results.host)}; {results.circumstances()}.']
    for case in cases_of(results):
        out += ['', f'**{CASES[case].title}**', '',
                '| ' + ' | '.join(HEAD) + ' |',
                '|---|' + '---:|' * (len(HEAD) - 2) + '---|']
        out += ['| ' + ' | '.join(line) + ' |'
                for line in lines_of(results, case)]
        notes = notes_of(results, case)
        if notes:
            out += ['', f"Versions and best settings: {'; '.join(notes)}."]
    return '\n'.join(out)
