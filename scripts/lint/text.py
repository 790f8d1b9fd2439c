# text.py - no tabs, no trailing spaces, no paths of one machine, no names in unit
# tests that cmocka has as macros.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

import tree

TEXT = ('.c', '.h', '.def', '.sh', '.py', '.md', '.txt', '.build', '.map', '.json',
        '.yaml', '.yml', '.1', '.3', '.7', 'Makefile', '.ci/run', '.csv',
        '.js', '.css', '.html')
DATA = re.compile(r'^tests/(data|fuzz/corpus)/|/expected/')
TABS = re.compile(r'(^|/)Makefile$')
# A person's or a machine's own folders; /tmp and /var/tmp are everybody's.
MACHINE = re.compile(r'(?<![\w.])/(work|home|root|Users)/')
# stop() came with cmocka 2.
CMOCKA = re.compile(r'^static\b.*\b(fail|skip|stop)\(')


def main(root):
    problems = []
    paths = [p for p in tree.files(root, suffixes=TEXT) if not DATA.search(p)]
    for path in paths:
        with open(os.path.join(root, path), encoding='utf-8') as f:
            text = f.read()
        if text and not text.endswith('\n'):
            problems.append(f'{path}: no newline at its end')
        for number, line in enumerate(text.split('\n'), 1):
            if '\t' in line and not TABS.search(path):
                problems.append(f'{path}:{number}: a tab')
            if line != line.rstrip():
                problems.append(f'{path}:{number}: trailing space')
            if MACHINE.search(line):
                problems.append(f'{path}:{number}: a path of one machine')
            if path.startswith('tests/unit/') and CMOCKA.search(line):
                problems.append(f'{path}:{number}: a name of a cmocka macro')
    tree.finish(problems, f'{len(paths)} files')


main(sys.argv[1])
