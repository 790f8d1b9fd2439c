# manual.py - the manual is complete: variables, public functions and formats.
# SPDX-License-Identifier: Apache-2.0
#
# Each variable that getenv asks for in src/ is in the table of
# src/cli/manual.c, and each entry is asked for; each public function has a
# comment that scripts/man3.py can make a page of; each format of
# src/format/formats.def has a page, to which README.md leads.
import os
import re
import sys

import tree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir))
import man3 # noqa: E402

FORMATS = 'src/format/formats.def'
TABLE = 'src/cli/manual.c'
CALL = re.compile(r'\bgetenv\s*\(\s*(?:"(\w+)")?')
ENTRY = re.compile(r'\.name = "(\w+)",(\s*\.indirect = true)?')


def asked(root, problems):
    """Variable -> where it is asked for."""
    found = {}
    for path in tree.files(root, 'src'):
        for number, line in enumerate(tree.lines(root, path), 1):
            for match in CALL.finditer(line.replace('secure_getenv', 'getenv')):
                if match.group(1):
                    found.setdefault(match.group(1), f'{path}:{number}')
                else:
                    problems.append(f'{path}:{number}: getenv without a name '
                                    'that can be read here')
    return found


def variables(root, problems):
    found = asked(root, problems)
    entries = {}
    if os.path.exists(os.path.join(root, TABLE)):
        entries = dict(ENTRY.findall('\n'.join(tree.lines(root, TABLE))))
    problems += [f'{place}: {name} is not in {TABLE}'
                 for name, place in found.items() if name not in entries]
    problems += [f'{TABLE}:1: nothing in src/ reads {name}'
                 for name, indirect in entries.items()
                 if not indirect and name not in found]
    return len(entries)


def functions(root, problems):
    count = 0
    for path in tree.files(root, 'include', suffixes=('.h',)):
        for block in man3.Header(os.path.join(root, path)).functions():
            count += len(block.functions)
            if not block.comment:
                problems.append(f'{path}:{block.line}: '
                                f'{block.functions[0][0]} has no comment')
    return count


def read(root, path):
    with open(os.path.join(root, path), encoding='utf-8') as f:
        return f.read()


def formats(root, problems):
    if not os.path.exists(os.path.join(root, FORMATS)):
        return 0
    pages = {path: read(root, path)
             for path in tree.files(root, 'docs/formats', suffixes=('.md',))}
    linked = [path for path in pages if f']({path})' in read(root, 'README.md')]
    names = re.findall(r'^FORMAT\((\w+)\)', read(root, FORMATS), re.M)
    for name in names:
        said = re.compile(rf'`{name}`\s+format|format\s+`{name}`')
        if not any(said.search(pages[path]) for path in linked):
            problems.append(f'{FORMATS}:1: no page that README.md leads to '
                            f'says that it is of the format {name}')
    return len(names)


def main(root):
    problems = []
    entries = variables(root, problems)
    count = functions(root, problems)
    names = formats(root, problems)
    tree.finish(problems,
                f'{entries} variables, {count} functions, {names} formats')


main(sys.argv[1])
