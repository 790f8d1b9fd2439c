# layers.py - each room includes only the rooms that layers.txt allows it.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

import tree

INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def read_rules(path):
    rules = {}
    with open(path, encoding='utf-8') as f:
        for line in f:
            line = line.split('#')[0].strip()
            if line:
                room, allowed = line.split(':')
                rules[room.strip()] = set(allowed.split())
    return rules


def room_of(path):
    parts = path.split('/')
    return parts[1] if parts[0] == 'src' and len(parts) > 2 else parts[0]


def complaint(path, target, rules):
    """Why the file may not include the target, or None."""
    room = room_of(path)
    head = target.split('/')[0]
    if '..' in target.split('/'):
        return 'includes through ".."'
    if '/' not in target and room != 'examples':
        return f'includes "{target}" without its room'
    if '-' + target in rules.get(room, ()):
        return f'room "{room}" may not use "{target}"'
    if head in ('weir', room):
        file, header = os.path.basename(path), os.path.basename(target)
        if (room == 'cli' and header.startswith('cmd_') and
                file.startswith('cmd_') and not file.startswith(header[:-2])):
            return f'a command includes another: "{target}"'
        return None
    if room not in rules:
        return f'room "{room}" is not in layers.txt'
    if head not in rules[room]:
        return f'room "{room}" may not use "{head}"'
    return None


def main(root):
    rules = read_rules(os.path.join(os.path.dirname(__file__), 'layers.txt'))
    paths = tree.files(root, 'src', 'include', 'examples')
    problems = []
    count = 0
    for path in paths:
        for number, line in enumerate(tree.lines(root, path), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            count += 1
            if path.startswith('include/') and match[1].startswith('weir/'):
                continue
            why = complaint(path, match[1], rules)
            if why:
                problems.append(f'{path}:{number}: {why}')
    tree.finish(problems, f'{len(paths)} files, {count} includes')


main(sys.argv[1])
