# prints.py - results and messages leave the command by one way.
# SPDX-License-Identifier: Apache-2.0
#
# Names of files, columns and hosts can hold what a terminal obeys. In src/cli,
# wr_cli_put, wr_cli_note and wr_cli_fail print (cli/command.h), and tables and
# progress lines do: they clean what they print. JSON goes through
# wr_record_dump (result/record.h).
import re
import sys

import locales
import tree

OWN = ('src/cli/command.c', 'src/cli/progress.c',
       'src/cli/main.c')
CALL = re.compile(r'(?<!\w)(?:v?f?printf|f?puts|f?putc|putchar|fwrite)(?=\()')
STREAM = re.compile(r'cli->(?:out|err)\b|(?<![\w.>])std(?:out|err)\b')
ALIAS = re.compile(r'FILE \*\w+ = (?:\w+->)*cli->(?:out|err)\b')
JSON = re.compile(r'(?<!\w)json_dumpf(?=\()')


def found(path, text):
    """Where the text prints past the one way."""
    if path.startswith('src/cli/') and path not in OWN:
        for match in CALL.finditer(text):
            if match[0] in ('printf', 'puts', 'putchar') or STREAM.search(
                    locales.call_text(text, match.end())):
                yield match, 'print by wr_cli_put (cli/command.h)'
        for match in ALIAS.finditer(text):
            yield match, 'print by wr_cli_put (cli/command.h)'
    for match in JSON.finditer(text):
        yield match, 'print by wr_record_dump (result/record.h)'


def main(root):
    problems = []
    paths = tree.files(root, 'src')
    for path in paths:
        text = locales.blanked('\n'.join(tree.lines(root, path)), strings=False)
        for match, what in found(path, text):
            line = text.count('\n', 0, match.start()) + 1
            problems.append(f'{path}:{line}: {match[0]}: {what}')
    tree.finish(problems, f'{len(paths)} files')


if __name__ == '__main__':
    main(sys.argv[1])
