# howto.py - the sources shown in docs/howto/ compile.
# SPDX-License-Identifier: Apache-2.0
#
# A block that begins like a file ("/* name.c - ...") is compiled, without a
# warning, after declarations of the tables that it defines.
import os
import re
import subprocess
import sys

import tree

BLOCK = re.compile(r'^```c\n(/\* (\w+\.c) - .*?)^```', re.M | re.S)
TABLE = re.compile(r'^const struct (\w+) (\w+) = \{', re.M)
FLAGS = ['-x', 'c', '-std=gnu17', '-D_GNU_SOURCE', '-Iinclude', '-Isrc',
         '-Wall', '-Wextra', '-Werror', '-fsyntax-only', '-']


def compile_block(root, source):
    """The compiler's first complaint, or None."""
    tables = ''.join(f'extern const struct {kind} {name};\n'
                     for kind, name in TABLE.findall(source))
    head, mark, rest = source.rpartition('#include')
    line, _, rest = rest.partition('\n')
    run = subprocess.run(['gcc'] + FLAGS, cwd=root, text=True,
                         input=head + mark + line + '\n' + tables + rest,
                         capture_output=True)
    complaints = [c for c in run.stderr.split('\n') if ': error: ' in c]
    return complaints[0].split(': error: ')[1] if complaints else None


def main(root):
    problems, count = [], 0
    for path in tree.files(root, 'docs/howto', suffixes=('.md',)):
        with open(os.path.join(root, path), encoding='utf-8') as f:
            text = f.read()
        for match in BLOCK.finditer(text):
            count += 1
            complaint = compile_block(root, match[1])
            if complaint:
                number = text.count('\n', 0, match.start()) + 2
                problems.append(f'{path}:{number}: {match[2]}: {complaint}')
    tree.finish(problems, f'{count} sources')


main(sys.argv[1])
