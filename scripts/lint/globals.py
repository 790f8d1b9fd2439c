# globals.py - src/ has no mutable globals but those of globals.txt.
# SPDX-License-Identifier: Apache-2.0
#
# Asks the object files, so that statics inside functions and thread-locals
# are seen too. Constant tables lie in .rodata or .data.rel.ro.
import json
import os
import re
import subprocess
import sys

import tree

SYMBOL = re.compile(r'^[0-9a-f]+ (.{7}) (\S+)\t[0-9a-f]+\s+(?:\.\w+ )?(\S+)$')
MUTABLE = re.compile(r'^(\.t?bss|\.t?data|\*COM\*)(?!\.rel\.ro)')


def read_allowed(path):
    allowed = {}
    with open(path, encoding='utf-8') as f:
        for line in f:
            if line.strip() and not line.startswith('#'):
                source, name, reason = line.split(None, 2)
                allowed[source, name] = reason
    return allowed


def objects(root, build):
    """(source, object) of each file of src/ that the build compiles."""
    with open(os.path.join(build, 'compile_commands.json')) as f:
        for entry in json.load(f):
            source = os.path.join(entry['directory'], entry['file'])
            source = os.path.relpath(os.path.realpath(source),
                                     os.path.realpath(root))
            target = os.path.join(entry['directory'], entry['output'])
            if source.startswith('src/') and os.path.exists(target):
                yield source, target


def globals_in(target):
    listing = subprocess.run(['objdump', '-t', target], check=True,
                             capture_output=True, text=True).stdout
    for line in listing.split('\n'):
        match = SYMBOL.match(line)
        if match and MUTABLE.match(match[2]) and 'd' not in match[1]:
            yield re.sub(r'\.\d+$', '', match[3])


def main(root, build):
    if not os.path.exists(os.path.join(build, 'compile_commands.json')):
        tree.skip('nothing is built')
    allowed = read_allowed(os.path.join(root, 'scripts/lint/globals.txt'))
    problems, seen, count = set(), set(), 0
    for source, target in objects(root, build):
        count += 1
        for name in globals_in(target):
            seen.add((source, name))
            if (source, name) not in allowed:
                problems.add(f'{source}: mutable global "{name}"')
    for source, name in sorted(set(allowed) - seen):
        problems.add(f'scripts/lint/globals.txt: {source} has no "{name}"')
    tree.finish(sorted(problems), f'{count} objects, {len(allowed)} allowed')


main(sys.argv[1], sys.argv[2])
