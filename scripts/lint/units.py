# units.py - sizes in texts say KiB or KB: a bare K is read as 1000, which few expect.
# SPDX-License-Identifier: Apache-2.0
import re
import sys

import tree

RULE = ('src/base/units.c', 'src/base/units.h') # what explains the rule, and prints
TEXT = ('.c', '.h', '.md', '.py', '.sh', '.yaml', '.1', '.3', '.7')
BARE = re.compile(r'(?<![\w.=#-])\d+(?:\.\d+)?[KMGT]\b')
OTHERS = re.compile(r'\bfio\b|Llama') # another tool's rule; a model's name
TABLE = re.compile(r'"(?:KB|KiB)",\s*"(?:MB|MiB)"')


def main(root):
    problems = []
    paths = [p for p in tree.files(root, 'src', 'include', 'docs', 'examples',
                                   'workloads', suffixes=TEXT) if p not in RULE]
    paths += tree.files(root, suffixes=('README.md',))
    for path in sorted(set(paths)):
        for number, line in enumerate(tree.lines(root, path), 1):
            bare = BARE.search(line)
            if bare and not OTHERS.search(line):
                problems.append(f'{path}:{number}: {bare[0]}: write {bare[0]}iB '
                                f'or {bare[0]}B')
            if TABLE.search(line):
                problems.append(f'{path}:{number}: base/units.h prints sizes')
    tree.finish(problems, f'{len(paths)} files')


main(sys.argv[1])
