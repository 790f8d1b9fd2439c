#!/usr/bin/python3
# lengths.py - functions, files and lines are short.
# SPDX-License-Identifier: Apache-2.0
#
# usage: lengths.py ROOT [--list]     --list names the long ones that pass, too
import os
import sys

from functions import functions, quantile
import tree

MAX_FUNCTION = 100
MAX_FILE = {'.c': 700, '.h': 300}
MAX_WIDTH = 100
MAX_PARAMETERS = 5


def main(root):
    problems, lengths, sources, many = [], [], [], 0
    for path in tree.files(root, 'src', 'include', 'tests', 'examples',
                           'bench'):
        text = tree.lines(root, path)
        limit = MAX_FILE[os.path.splitext(path)[1]]
        if len(text) > limit:
            problems.append(f'{path}:1: {len(text)} lines, over {limit}')
        for number, line in enumerate(text, 1):
            if len(line) > MAX_WIDTH:
                problems.append(
                    f'{path}:{number}: {len(line)} columns, over {MAX_WIDTH}')
        for number, name, length, count in functions(text):
            if length > MAX_FUNCTION:
                problems.append(f'{path}:{number}: {name}() has {length} '
                                f'lines, over {MAX_FUNCTION}')
            if path.startswith('src/'):
                lengths.append(length)
                many += count > MAX_PARAMETERS
                if '--list' in sys.argv and count > MAX_PARAMETERS:
                    print(f'{path}:{number}: {name}() has {count} parameters')
                if '--list' in sys.argv and length > 60:
                    print(f'{path}:{number}: {name}() has {length} lines')
        if path.startswith('src/') and path.endswith('.c'):
            sources.append(len(text))
    lengths.sort()
    short = 100 * sum(n < 400 for n in sources) // max(1, len(sources))
    tree.finish(problems,
                f'{len(lengths)} functions of median {quantile(lengths, .5)}, '
                f'p90 {quantile(lengths, .9)}, longest {max(lengths, default=0)}'
                f'; {many} with over {MAX_PARAMETERS} parameters; '
                f'{short} % of .c under 400 lines')


main(sys.argv[1])
