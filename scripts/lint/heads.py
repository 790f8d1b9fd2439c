# heads.py - a file says what it is, its license, and includes its own header.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import sys

import tree

INCLUDE = re.compile(r'\s*#\s*include\s*["<]([^">]+)[">]')
CASE = re.compile(r'^tests/cli/\w+/') # input of a test, named by its path
SLASH = ('.c', '.h', '.def', '.js', '.css') # comments are /* */
LICENSE = 'SPDX-License-Identifier: Apache-2.0'


def check_purpose(path, text):
    name = re.escape(os.path.basename(path))
    mark = r'/\* ' if path.endswith(SLASH) else '# '
    first = text[1] if text and text[0].startswith('#!') and len(text) > 1 \
        else (text[0] if text else '')
    if not re.match(mark + name + r' - \S', first):
        yield f'{path}:1: does not begin with "{os.path.basename(path)} - ..."'
    if not any(LICENSE in line for line in text[:8]):
        yield f'{path}:1: no {LICENSE} at the top'


def check_own_header(root, path, text):
    own = path[len('src/'):-2] + '.h'
    if not os.path.exists(os.path.join(root, 'src', own)):
        return
    for number, line in enumerate(text, 1):
        match = INCLUDE.match(line)
        if match:
            if match[1] != own:
                yield f'{path}:{number}: the first include is not "{own}"'
            return


def main(root):
    problems = []
    paths = [p for p in tree.files(root, suffixes=(*SLASH, '.sh', '.py'))
             if not CASE.match(p)]
    for path in paths:
        text = tree.lines(root, path)
        problems += check_purpose(path, text)
        if path.startswith('src/') and path.endswith('.c'):
            problems += check_own_header(root, path, text)
    tree.finish(problems, f'{len(paths)} files')


main(sys.argv[1])
