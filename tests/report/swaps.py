# swaps.py - two neighbours that change places do not do so unseen.
# SPDX-License-Identifier: Apache-2.0
#
# usage: swaps.py RESULT-SWAPS
#
# In the tables of values and of columns result-swaps swaps every two neighbours
# and looks whether what golden.py keeps would change. Cells that are filled by
# calls, in the order of the columns, cannot be swapped so: of each two neighbours
# in a table that is kept one row must differ, for a swap of the two to show.
import collections
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import golden

# Neighbours of a command are compared.
RECORDS = [golden.CASES['bench-varied'][0],
           golden.CASES['bench-varied-beside'][1],
           golden.CASES['bench-emulated'][0], *golden.CASES['ckpt-compared'],
           *golden.CASES['probe-compared'], *golden.CASES['run-compared'],
           *golden.CASES['run-slow'], *golden.CASES['run-search'],
           *golden.CASES['trace'], *golden.CASES['train-alone'],
           *golden.CASES['train-compared'], *golden.CASES['replay-beside'],
           *(f'probe --runs 2 --no-monitor --seed {i}' for i in range(4)),
           'probe --runs 2']


def odd(records):
    """What no made record is: starved, without any test, with room beside the
    names of its files, with one tier, without saves and loss."""
    def first(command):
        return copy.deepcopy(next(r for r in records
                                  if r['command'] == command))

    records[-1]['cores'] = {'count': 2, 'own': 0.5, 'others': 1.5,
                            'starved': True}
    empty = dict(records[-2], tests=[])
    short, one_tier, bare = first('trace'), first('train'), first('train')
    for save in short['saves']:
        save['path'] = 'file'
    one_tier['settings']['slow'] = ''
    bare['result']['saves'] = 0
    bare['result']['loss_first'] = None
    return [empty, short, one_tier, bare, *records]


def swapped(program):
    """Whether each swap in a table changes something."""
    with tempfile.TemporaryDirectory(prefix='weir-swaps-') as folder:
        files = []
        for i, record in enumerate(odd([golden.made(words.split() +
                                                    ['--distinct'])
                                        for words in RECORDS])):
            files.append(pathlib.Path(folder) / f'{i}.json')
            files[-1].write_text(json.dumps(record))
        return subprocess.run([program, *files], check=False).returncode == 0


def alike():
    """Neighbours in kept tables that are the same in every row."""
    pairs = collections.defaultdict(bool)
    for path in golden.KEPT.glob('*.json'):
        for section in json.loads(path.read_text())['sections']:
            for table in section['tables']:
                heads = table['columns']
                for i, both in enumerate(zip(heads, heads[1:])):
                    pairs[(table['title'], *both)] |= any(
                        row[i] != row[i + 1] for row in table['rows'])
    print(f'{len(pairs)} pairs of columns')
    return [pair for pair, differ in pairs.items() if not differ]


def nameless():
    """Kept reports in which a record, or what tells it, has no name."""
    for path in golden.KEPT.glob('*.json'):
        for section in json.loads(path.read_text())['sections']:
            for note in section['notes']:
                if ', ,' in note['text'] or note['text'].startswith(':'):
                    yield path.name, note['text']
            for table in section['tables']:
                for i, head in enumerate(table['columns']):
                    if head in ('record', 'run') and any(
                            row[i] == '' for row in table['rows']):
                        yield path.name, table['title']


def main():
    lost = list(nameless())
    for where, what in lost:
        print(f'{where}: a record has no name: {what}')
    same = alike()
    for title, a, b in same:
        print(f'{title}: {a} and {b} are the same in every row')
    sys.exit(not swapped(sys.argv[1]) or bool(same) or bool(lost))


main()
