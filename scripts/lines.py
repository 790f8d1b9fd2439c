#!/usr/bin/python3
# lines.py - how much code there is in src/, and how it is cut.
# SPDX-License-Identifier: Apache-2.0
#
# usage: lines.py [--json] [--base REV] [--once | --tests] [ROOT]
#
# A line of code is neither comment nor blank. Functions are measured as the
# lint `lengths` does. An exported function is not static, not part of the public
# API, and named in another file than its own; a call site is each place in a .c
# or a header that names it, other than its definition and its declarations.
# --base puts the numbers of another revision beside those of the work tree;
# --once names the exported functions with one call site, --tests says how many
# lines of unit tests there are for a line of each room.
import argparse
import collections
import io
import json
import os
import re
import subprocess
import sys
import tarfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, 'lint'))

from functions import functions, quantile  # noqa: E402
import tree  # noqa: E402

TOPS = ('src', 'include')
# A comment, or a text that may hold the beginning of one.
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'
                     r"'(?:\\.|[^'\\\n])*'", re.S)
NAME = re.compile(r'[A-Za-z_]\w*')
# At the start of a line: a declaration with the name before its "(".
DECLARED = re.compile(r'^[A-Za-z_][\w\s*]*?\b(\w+)\([^;{}]*\)[^;{}()]*'
                      r'(?:\(\([^;{}]*\)\))?;', re.M)
ROWS = (('code_lines', 'lines of code'), ('lines', 'lines in all'),
        ('c_files', '.c files'), ('h_files', '.h files'),
        ('c_file_median', '.c file, lines, median'),
        ('functions', 'functions'),
        ('function_median', 'function length, median'),
        ('function_p90', 'function length, p90'),
        ('width_p90', 'line width, p90'), ('width_p99', 'line width, p99'),
        ('exported', 'exported functions'),
        ('exported_once', 'of them with one call site'))


def code_of(text):
    """The text without its comments and what strings say; its lines remain."""
    return COMMENT.sub(
        lambda m: '""' if m[0][0] in '"\'' else ' ' + '\n' * m[0].count('\n'),
        text)


def in_tree(root):
    return {path: '\n'.join(tree.lines(root, path)) + '\n'
            for path in tree.files(root, *TOPS)}


def in_revision(root, rev):
    """The same files of a commit, by path."""
    made = subprocess.run(['git', '-C', root, 'archive', rev, *TOPS],
                          capture_output=True, check=False)
    if made.returncode:
        sys.exit(f'lines.py: {made.stderr.decode().strip()}')
    with tarfile.open(fileobj=io.BytesIO(made.stdout)) as tar:
        return {m.name: tar.extractfile(m).read().decode()
                for m in tar if m.isfile() and m.name.endswith(('.c', '.h'))}


def exports(code):
    """Functions that are exported, with their files, and those with one caller."""
    defined, declared, public = {}, collections.Counter(), set()
    named = collections.defaultdict(collections.Counter)  # name: by path
    for path, text in code.items():
        for match in DECLARED.finditer(text):
            declared[match[1]] += 1
            if path.startswith('include/'):
                public.add(match[1])
        if path.startswith('include/'):
            continue
        lines = text.split('\n')
        for line, name, _, _ in functions(lines):
            if path.endswith('.c') and not lines[line - 1].startswith('static'):
                defined[name] = path
        for name in NAME.findall(text):
            named[name][path] += 1
    exported, once = {}, {}
    for name, home in defined.items():
        # Its header only declares it; what else names it there uses it.
        calls = sum(named[name].values()) - 1 - declared[name]
        elsewhere = calls - (named[name][home] - 1)
        if name not in public and elsewhere > 0:
            exported[name] = home
            if calls == 1:
                once[name] = home
    return exported, once


def measure(files):
    code = {path: code_of(text) for path, text in files.items()}
    ours = {path: text for path, text in files.items()
            if path.startswith('src/')}
    written = [line for path in ours for line in code[path].split('\n')
               if line.strip()]
    whole = [line for text in ours.values() for line in text.split('\n')[:-1]]
    lengths = sorted(length for text in ours.values()
                     for _, _, length, _ in functions(text.split('\n')))
    # Blank lines would only hide what is wide.
    widths = sorted(len(line) for line in whole if line.strip())
    sizes = sorted(text.count('\n') for path, text in ours.items()
                   if path.endswith('.c'))
    exported, once = exports(code)
    return {'code_lines': len(written), 'lines': len(whole),
            'c_files': len(sizes), 'h_files': len(ours) - len(sizes),
            'c_file_median': quantile(sizes, .5), 'functions': len(lengths),
            'function_median': quantile(lengths, .5),
            'function_p90': quantile(lengths, .9),
            'width_p90': quantile(widths, .9),
            'width_p99': quantile(widths, .99),
            'exported': len(exported), 'exported_once': len(once)}


def show_once(root):
    _, once = exports({p: code_of(t) for p, t in in_tree(root).items()})
    for name, home in sorted(once.items(), key=lambda kv: kv[::-1]):
        print(f'{home}: {name}')


def show_tests(root):
    def lines(top):
        rooms = collections.Counter()
        for path in tree.files(root, top, suffixes=('.c', '.h')):
            rooms[path[len(top) + 1:].split('/')[0]] += len(tree.lines(root, path))
        return rooms
    src, tests = lines('src'), lines('tests/unit')
    for room, count in sorted(src.items()):
        print(f'{room:14}{count:>8,}{tests[room]:>8,}{tests[room] / count:>7.2f}')


def main():
    p = argparse.ArgumentParser(description='How much code is in src/.')
    p.add_argument('--json', action='store_true', help='for programs')
    p.add_argument('--base', metavar='REV', help='beside this revision')
    p.add_argument('--once', action='store_true', help='exports with one call site')
    p.add_argument('--tests', action='store_true', help='unit tests of each room')
    p.add_argument('root', nargs='?', default=os.path.dirname(HERE))
    args = p.parse_args()
    if args.once or args.tests:
        (show_once if args.once else show_tests)(args.root)
        return
    now = measure(in_tree(args.root))
    base = measure(in_revision(args.root, args.base)) if args.base else None
    if args.json:
        print(json.dumps({'now': now, 'base': base} if base else now, indent=1))
        return
    if base:
        print(f'{"":27}{args.base[:10]:>10}{"now":>10}{"change":>10}')
    for key, name in ROWS:
        if base:
            print(f'{name:27}{base[key]:>10,}{now[key]:>10,}'
                  f'{now[key] - base[key]:>+10,}')
        else:
            print(f'{name:27}{now[key]:>10,}')


main()
