# symbols.py - libweir.so shows what include/weir/ declares, and nothing else.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess
import sys

import tree

DECLARED = re.compile(r'WEIR_API\s+[^;(]*?\b(weir_\w+)\s*\(')


def main(root, build):
    library = next((p for p in (os.path.join(build, d, 'libweir.so')
                                for d in ('', 'src')) if os.path.exists(p)), '')
    if not library:
        tree.skip('libweir.so is not built')
    listing = subprocess.run(['nm', '-D', '--defined-only', library],
                             check=True, capture_output=True, text=True).stdout
    shown = {line.split()[-1].split('@')[0] for line in listing.splitlines()}
    declared = set()
    for path in tree.files(root, 'include', suffixes=('.h',)):
        text = '\n'.join(tree.lines(root, path))
        text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
        declared |= set(DECLARED.findall(text))
    problems = [f'libweir.so: shows "{s}", which no public header declares'
                for s in sorted(shown - declared)]
    problems += [f'include/weir: "{s}" is not in libweir.so'
                 for s in sorted(declared - shown)]
    tree.finish(problems, f'{len(shown)} symbols')


main(sys.argv[1], sys.argv[2])
