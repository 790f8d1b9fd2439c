# findings.py - what is said of the findings of weir trace is what they are.
# SPDX-License-Identifier: Apache-2.0
#
# Each row of findings.def is in docs/howto/trace.md, with its title and what it
# stands in for, and no other; a unit test looks for each code; and bench/lib has
# a program with each fault, or says why it has none.
import os
import re
import sys

import tree

TABLE = 'src/trace/findings.def'
GUIDE = 'docs/howto/trace.md'
CASES = 'bench/lib/faults.py'
ROW = re.compile(r'^FINDING\("(\w+)", (\w+), "([^"]*)", "([^"]*)"\)$')
SHOWN = re.compile(r'^\| `([DS]\d\d)` \| (.*?) \| ?(.*?) ?\|$')


def rows(root, path, pattern):
    """Code -> (line, the rest)."""
    found = {}
    for number, line in enumerate(tree.lines(root, path), 1):
        match = pattern.match(line)
        if match:
            found[match[1]] = (number, match.groups()[1:])
    return found


def check_guide(root, table):
    shown = rows(root, GUIDE, SHOWN)
    for code, (number, (_, title, over)) in table.items():
        told = ' '.join(f'`{c}`' for c in over.split())
        if code not in shown:
            yield f'{TABLE}:{number}: {code} is not in {GUIDE}'
        elif shown[code][1] != (title, told):
            yield (f'{GUIDE}:{shown[code][0]}: {code} is "{title} | {told}" in '
                   f'{TABLE}')
    for code in shown.keys() - table.keys():
        yield f'{GUIDE}:{shown[code][0]}: {code} is not in {TABLE}'


def check_tests(root, table):
    tests = '\n'.join('\n'.join(tree.lines(root, path)) for path in
                      tree.files(root, 'tests/unit/trace', suffixes=('.c',)))
    cases = '\n'.join(tree.lines(root, CASES))
    for code, (number, _) in table.items():
        if f'result_find(&r, "{code}")' not in tests:
            yield f'{TABLE}:{number}: no unit test looks for {code}'
        if not re.search(rf"Case\('{code}'|^WITHOUT = .*'{code}'", cases, re.M):
            yield f'{TABLE}:{number}: no program of {CASES} has {code}'


def main(root):
    if not os.path.exists(os.path.join(root, TABLE)):
        tree.finish([], '0 findings')
    table = rows(root, TABLE, ROW)
    unread = [f'{TABLE}:{number}: a row is one line, FINDING("code", name, '
              '"title", "over")'
              for number, line in enumerate(tree.lines(root, TABLE), 1)
              if line.startswith('FINDING(') and not ROW.match(line)]
    tree.finish([*unread, *check_guide(root, table), *check_tests(root, table)],
                f'{len(table)} findings')


main(sys.argv[1])
