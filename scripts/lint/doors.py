# doors.py - files that open, make or run something by a name are listed.
# SPDX-License-Identifier: Apache-2.0
#
# What weir finds at a place that the user did not name in this call is asked
# base/own.h whose it is. Which file of src/ calls the kernel with a name at all,
# and why it may, is in doors.txt: a new call needs a line there, and the line a
# reason.
import os
import re
import sys

import tree

CALL = re.compile(
    r'(?<![\w.>])(open|openat|open64|creat|fopen|freopen|mkdir|mkdirat|mkdtemp'
    r'|mkstemp|bind|connect|dlopen|posix_spawnp?|execvp?e?|execlp?|fexecve'
    r'|renameat2?|rename|linkat|link|symlink|unlinkat|unlink|rmdir|flock'
    r'|shm_open|opendir|truncate|chmod|chown|fchmodat|fchownat)\s*\(')
PARTS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"'
                   r"|'(?:\\.|[^'\\\n])*'", re.S)


def listed():
    """Path -> the calls that it may have."""
    table = {}
    name = os.path.join(os.path.dirname(__file__), 'doors.txt')
    with open(name, encoding='utf-8') as f:
        for line in f:
            if line.strip() and not line.startswith('#'):
                path, calls, reason = line.split(None, 2)
                assert reason.strip()
                table[path] = set(calls.split(','))
    return table


def calls_of(root, path):
    text = PARTS.sub('', '\n'.join(tree.lines(root, path)))
    return {match[1] for match in CALL.finditer(text)}


def main(root):
    allowed = listed()
    problems = []
    paths = tree.files(root, 'src')
    for path in paths:
        for call in sorted(calls_of(root, path) - allowed.get(path, set())):
            problems.append(f'{path}: {call} by a name: ask base/own.h, or say '
                            f'in scripts/lint/doors.txt why not')
    if 'src/base/own.c' in paths:  # the whole tree
        for path, calls in allowed.items():
            there = calls_of(root, path) if path in paths else set()
            problems += [f'scripts/lint/doors.txt: {path}: there is no {call}'
                         for call in sorted(calls - there)]
    tree.finish(problems, f'{len(paths)} files, {len(allowed)} with doors')


main(sys.argv[1])
