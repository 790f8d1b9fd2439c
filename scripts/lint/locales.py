# locales.py - no locale changes what weir reads, writes and says.
# SPDX-License-Identifier: Apache-2.0
#
# Everywhere in src/: letters are compared by base/ascii.h, numbers read by
# base/c_locale.h. The rooms of the library also print by the latter, because a
# program may have a decimal comma; the command never has one: it sets LC_CTYPE
# alone.
import re
import sys

import tree

OWN = ('src/base/ascii.h', 'src/base/c_locale.c')
LIBRARY = re.compile(r'src/(base|storage|codec|comm|safetensors|tier|checkpoint'
                     r'|format|pipeline)/')
CALL = re.compile(r'(?<![\w.>])(strto(?:d|f|ld|f\d+x?)(?:_l)?|atof|strn?casecmp'
                  r'|strcasestr|strcoll|strxfrm|alphasort|strfrom[dfl]|[efg]cvt'
                  r'|gai_strerror|(?:to|isw?|tow)'
                  r'(?:lower|upper)|isw?(?:alpha|alnum|digit|xdigit|space|blank'
                  r'|print|punct|cntrl|graph)|newlocale|uselocale'
                  r'|setlocale(?!\(LC_CTYPE,))(?=\s*[(,;)])')
PRINT = re.compile(r'(?<!\w)(v?(?:s|sn|f|d|as)?printf|v?[sf]?scanf'
                   r'|strerror(?:_r)?)\s*\(')
FLOAT = re.compile(r'%(?:\d+\$)?[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?[lL]?'
                   r'[aefgAEFG]')
JSON = re.compile(r'(?<!\w)(json_load\w*)\s*\(')
PARTS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"'
                   r"|'(?:\\.|[^'\\\n])*'", re.S)


def blanked(text, strings):
    """The text without comments, and without strings unless asked for."""
    def blank(match):
        if strings and match[0][0] == '"':
            return match[0].replace('(', ' ').replace(')', ' ')
        return re.sub(r'[^\n]', ' ', match[0])
    return PARTS.sub(blank, text)


def call_text(text, start):
    """What stands between the parenthesis at start and its partner."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == '(') - (text[at] == ')')
        if depth == 0:
            return text[start:at]
    return text[start:]


def printed(text):
    """The calls that print a floating point number, or may."""
    for match in PRINT.finditer(text):
        if match[1][0] == 'v' or match[1][:3] == 'str' or FLOAT.search(
                call_text(text, match.end() - 1).replace('%%', '')):
            yield match


def main(root):
    problems = []
    paths = [p for p in tree.files(root, 'src') if p not in OWN]
    for path in paths:
        text = '\n'.join(tree.lines(root, path))
        found = list(CALL.finditer(blanked(text, strings=False)))
        if LIBRARY.match(path):
            found += printed(blanked(text, strings=True))
            if 'wr_locale_enter(' not in text:
                found += JSON.finditer(blanked(text, strings=False))
        for match in found:
            line = text.count('\n', 0, match.start()) + 1
            problems.append(f'{path}:{line}: {match[1]} follows the locale '
                            f'(base/ascii.h, base/c_locale.h)')
    tree.finish(problems, f'{len(paths)} files')


if __name__ == '__main__':
    main(sys.argv[1])
