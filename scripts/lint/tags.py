# tags.py - every struct, union and enum tag is defined once in src/.
# SPDX-License-Identifier: Apache-2.0
import re
import sys

import tree

TAG = re.compile(r'(?:^|[^\w*/ ] |^\s*(?:static |const |typedef )*)'
                 r'\b(struct|union|enum) (\w+) \{')


def main(root):
    seen = {}
    problems = []
    for path in tree.files(root, 'src'):
        for number, line in enumerate(tree.lines(root, path), 1):
            match = TAG.search(line)
            if not match:
                continue
            first = seen.setdefault(match[2], path)
            if first != path:
                problems.append(f'{path}:{number}: "{match[1]} {match[2]}" '
                                f'is also defined in {first}')
    tree.finish(problems, f'{len(seen)} tags')


main(sys.argv[1])
