# embed.py - the frame of a report's page as C, with its parts filled in.
# SPDX-License-Identifier: Apache-2.0
#
# usage: embed.py OUTPUT.c CHART.js page.html page.css page.js \
#        marks.js frame.js heat.js lanes.js theme.js notice.txt
#
# The policy of the page allows the scripts and the style by their hashes, and
# nothing else: no network, and no script that a text could smuggle in.
import base64
import hashlib
import re
import sys

NAMES = ('head', 'body', 'tail') # before the title, up to the body, after it


def read(path):
    """As the browser's parser sees it: line ends are LF."""
    with open(path, encoding='utf-8', newline='') as f:
        return f.read().replace('\r\n', '\n').replace('\r', '\n')


def source(text):
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def policy(style, scripts):
    return '; '.join((
        "default-src 'none'", 'img-src data:', f'style-src {source(style)}',
        'script-src ' + ' '.join(map(source, scripts)),
        "base-uri 'none'", "form-action 'none'"))


def page(chart, frame, *parts):
    part = dict(zip(('STYLE', 'SCRIPT', 'MARKS', 'FRAME', 'HEAT', 'LANES',
                     'THEME', 'NOTICE'), map(read, parts)))
    part['CHART'] = re.sub(r'\n//# sourceMappingURL=.*', '', read(chart))
    for name, text in part.items():
        if re.search('</script|</style|<!--|-->', text, re.IGNORECASE):
            raise SystemExit(f'embed.py: {name} would end its element')
    part['POLICY'] = policy(
        part['STYLE'], [part[n] for n in ('THEME', 'CHART', 'MARKS', 'FRAME',
                                          'HEAT', 'LANES', 'SCRIPT')])
    filled = re.sub(r'@([A-Z]+)@', lambda m: part.get(m[1], '\0'),
                    read(frame))
    pieces = filled.split('\0') # at @TITLE@ and @BODY@
    if len(pieces) != len(NAMES):
        raise SystemExit('embed.py: page.html has not one @TITLE@ and @BODY@')
    return pieces


def literal(text):
    """C string literals, a line each: the compiler takes them faster than
    lists of numbers."""
    data = text.encode()
    for start in range(0, len(data), 96):
        chunk = data[start:start + 96]
        yield '    "' + ''.join(
            chr(b) if 32 <= b < 127 and chr(b) not in '"\\?'
            else f'\\{b:03o}' for b in chunk) + '"'


def main(out, *inputs):
    with open(out, 'w', encoding='ascii') as f:
        f.write('/* Made by embed.py. */\n#include "report/doc_page.h"\n')
        for name, text in zip(NAMES, page(*inputs)):
            f.write(f'\nconst char wr_page_{name}[] =\n'
                    + '\n'.join(literal(text)) + ';\n')


main(*sys.argv[1:])
