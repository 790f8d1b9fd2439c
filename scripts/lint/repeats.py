# repeats.py - six lines that stand in two functions, under other names perhaps: one of
# them should call the other.
# SPDX-License-Identifier: Apache-2.0
import collections
import re
import sys

import tree

LINES = 6
COMMENT = re.compile(r'/\*.*?\*/', re.S)
TOKEN = re.compile(r'[A-Za-z_]\w*|\d[\w.]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[^\s\w]')
# Lines that say nothing alone, and how memory is had and given back everywhere.
EMPTY = re.compile(r'[\s{}();]*$|\s*#|\s*int r;|\s*free\(|\s*if \(!\w+\)$|'
                   r'\s*return wr_fail\(err, WEIR_ENOMEM')
FLOW = {'if', 'for', 'while', 'return', 'switch', 'case', 'goto', 'else', 'do', 'sizeof'}
KEPT = FLOW | {'struct', 'const', 'int', 'char', 'bool', 'double', 'size_t', 'NULL', 'true',
               'false', 'static', 'void', 'unsigned', 'break', 'continue'}


def telling(text):
    """(number, its words) of each line of a function that says something."""
    text = COMMENT.sub(lambda m: '\n' * m[0].count('\n'), text)
    for number, line in enumerate(text.split('\n'), 1):
        if not EMPTY.match(line):
            yield number, TOKEN.findall(line) if line[0].isspace() else None


def shape(lines):
    """What six lines do, whatever their variables are called; None: too little."""
    if any(words is None for _, words in lines):
        return None
    names, out, calls, flow = {}, [], 0, 0
    for _, words in lines:
        for word, after in zip(words, words[1:] + ['']):
            flow += word in FLOW
            if word[0].isidentifier() and word not in KEPT:
                if after == '(':
                    calls += 1
                else:
                    word = f'${names.setdefault(word, len(names))}'
            out.append(word)
        out.append('\n')
    return ' '.join(out) if calls and flow and len(out) >= 45 else None


def main(root):
    windows = collections.defaultdict(list)
    paths = tree.files(root, 'src', suffixes=('.c', '.h'))
    for path in paths:
        lines = list(telling('\n'.join(tree.lines(root, path))))
        for k in range(len(lines) - LINES + 1):
            what = shape(lines[k:k + LINES])
            if what:
                windows[what].append((path, k, lines[k][0]))
    pairs = collections.defaultdict(list) # (path, path, how far apart) -> where
    for places in windows.values():
        for i, a in enumerate(places):
            for b in places[i + 1:]:
                if a[0] != b[0] or b[1] - a[1] >= LINES:
                    pairs[a[0], b[0], b[1] - a[1]].append((a[1], a[2], b[2]))
    problems = []
    for (one, other, _), found in sorted(pairs.items()):
        last = -2
        for k, at, there in sorted(found):
            if k > last + 1:
                problems.append(f'{one}:{at}: again in {other}:{there}')
            last = k
    tree.finish(problems, f'{len(paths)} files')


main(sys.argv[1])
