# tree.py - the files a lint looks at, and how it reports.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

SKIPPED = re.compile(r'^(\.git|build|build-.*|demo-data|__pycache__)$')


def files(root, *tops, suffixes=('.c', '.h')):
    """Paths below root (relative, sorted) that end in one of suffixes."""
    found = []
    for top in tops or ('.',):
        for folder, names, leaves in os.walk(os.path.join(root, top)):
            names[:] = [n for n in names if not SKIPPED.match(n)]
            for leaf in leaves:
                if leaf.endswith(tuple(suffixes)):
                    path = os.path.join(folder, leaf)
                    found.append(os.path.relpath(path, root))
    return sorted(found)


def lines(root, path):
    with open(os.path.join(root, path), encoding='utf-8') as f:
        return f.read().split('\n')[:-1]


def finish(problems, summary):
    """Prints the problems and the summary; the process ends with 0 or 1."""
    for problem in problems:
        print(problem)
    print(f'{len(problems)} problems' if problems else summary)
    sys.exit(1 if problems else 0)


def skip(reason):
    print(reason)
    sys.exit(77)
