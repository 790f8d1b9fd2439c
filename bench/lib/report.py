# report.py - the rows of the table: kept as JSON, shown as text or Markdown.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import textwrap
import time

HEAD = ('what', 'bar', 'measured', '')
WIDTHS = (46, 24, 22, 5)


class Row:
    """One line of the table. A bar of None: shown, not judged."""

    def __init__(self, what, bar, measured, ok, notes=()):
        self.what = what
        self.bar = bar
        self.measured = measured
        self.ok = ok # True, False, or None when it was not measured
        self.notes = [n for n in notes if n]

    def verdict(self):
        return {True: 'ok', False: 'short', None: '-'}[self.ok]

    def cells(self):
        return self.what, self.bar, self.measured, self.verdict()


def path_of(folder, scale):
    """Results of different scales are kept apart."""
    name = 'results' if scale == 'full' else scale
    return os.path.join(folder, name + '.json')


class Results:
    """Rows by measurement, in results.json; a new run replaces only what it
    has measured, so that the table can be made in several runs."""

    def __init__(self, folder, order, scale):
        self.order = order # of the measurements
        self.path = path_of(folder, scale)
        self.host = {}
        self.rows = {}
        self.shown = None
        if os.path.exists(self.path):
            with open(self.path, encoding='utf-8') as f:
                kept = json.load(f)
            self.host, self.rows = kept['host'], kept['measurements']

    def put(self, name, rows, load):
        self.rows[name] = {'when': time.strftime('%Y-%m-%d %H:%M'),
                           'load': round(load, 2),
                           'rows': [vars(r) for r in rows]}

    def keep(self, names):
        """Shows only these from now on."""
        self.shown = set(names)

    def save(self):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path + '.tmp', 'w', encoding='utf-8') as f:
            json.dump({'host': self.host, 'measurements': self.rows}, f,
                      indent=1)
            f.write('\n')
        os.replace(self.path + '.tmp', self.path)

    def table(self):
        return [Row(**row) for name in self.order
                if name in self.rows
                and (self.shown is None or name in self.shown)
                for row in self.rows[name]['rows']]

    def circumstances(self):
        """When it was measured, and how busy the machine was before."""
        kept = [m for name, m in self.rows.items()
                if self.shown is None or name in self.shown]
        when = sorted({m['when'][:10] for m in kept})
        return (f"measured {' to '.join(when[:1] + when[1:][-1:])}, load "
                f"before {max((m['load'] for m in kept), default=0):.1f}")

    def is_short(self):
        return any(row.ok is False for row in self.table())


def machine(host):
    fs = host.get('file_system', {})
    parts = [f"{host.get('cpu', '?')}, {host.get('cores', '?')} cores",
             f"{host.get('memory_bytes', 0) / 2**30:.0f} GiB of memory",
             host.get('kernel', '?')]
    if fs:
        parts.append(f"{fs['type']} on {fs['device']}"
                     + (f" ({fs['model']})" if fs['model'] else ''))
    return '; '.join(parts)


def lines_of(cells):
    """One table row over as many lines as its widest cell needs."""
    columns = [textwrap.wrap(c, w) or [''] for c, w in zip(cells, WIDTHS)]
    for i in range(max(map(len, columns))):
        parts = [(c[i] if i < len(c) else '').ljust(w)
                 for c, w in zip(columns, WIDTHS)]
        yield '  '.join(parts).rstrip()


def text(results):
    out = [machine(results.host), results.circumstances(), '', *lines_of(HEAD),
           '  '.join('-' * w for w in WIDTHS)]
    for row in results.table():
        out += lines_of(row.cells())
        for note in row.notes:
            out += textwrap.wrap(note, 100, initial_indent='    ',
                                 subsequent_indent='    ')
    return '\n'.join(out)


def markdown(results):
    out = [f'{machine(results.host)}; {results.circumstances()}.', '',
           '| what | bar | measured | | remarks |', '|---|---|---|---|---|']
    for row in results.table():
        cells = [*row.cells(), '; '.join(row.notes)]
        out.append('| ' + ' | '.join(c.replace('|', '\\|') for c in cells)
                   + ' |')
    return '\n'.join(out)
