# catalog.py - the descriptions in workloads/ as a table in C.
# SPDX-License-Identifier: Apache-2.0
#
# usage: catalog.py OUTPUT.c GROUP/NAME.yaml...
import os
import sys


def literal(data):
    """C string literals, a line of the file each."""
    for line in data.splitlines(keepends=True):
        yield '     "' + ''.join(
            chr(b) if 32 <= b < 127 and chr(b) not in '"\\?'
            else f'\\{b:03o}' for b in line) + '"'


def entry(path):
    with open(path, 'rb') as f:
        data = f.read()
    name = os.path.splitext(os.path.basename(path))[0]
    group = os.path.basename(os.path.dirname(path))
    return (group, name, data)


def main(out, *paths):
    entries = sorted(map(entry, paths))
    names = [name for _, name, _ in entries]
    for name in names:
        if names.count(name) > 1:
            raise SystemExit(f'catalog.py: two descriptions are called {name}')
    with open(out, 'w', encoding='ascii') as f:
        f.write('/* Made by catalog.py. */\n#include "workload/entries.h"\n\n'
                'const struct wr_catalog_entry wr_catalog_entries[] = {\n')
        for group, name, data in entries:
            f.write(f'    {{"{name}", "{group}",\n'
                    + '\n'.join(literal(data)) + f',\n     {len(data)}}},\n')
        f.write('    {0},\n};\n')


main(*sys.argv[1:])
