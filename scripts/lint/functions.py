# functions.py - where the functions of a C source are, and how long.
# SPDX-License-Identifier: Apache-2.0
#
# The layout is clang-format's: only a function opens with "{" in the first
# column, and it ends with "}" there. Its length counts its head. Tables are
# exempt: at file level they are not functions, and the lines of an initializer
# inside a function are not counted.
import re

TABLE_START = re.compile(r'^(\s+).*\] = \{$')
ATTRIBUTE = re.compile(r'__attribute__\s*\(\(.*?\)\)+')
NOT_CODE = re.compile(r'^\s*(/\*|\*|//)')


def head_of(text, opening):
    """First line of the declaration whose "{" stands on line `opening`."""
    start = opening
    while start > 0:
        line = text[start - 1]
        if not line.strip() or line[0] in '#}{' or line.rstrip().endswith(
                (';', '*/')) or NOT_CODE.match(line):
            break
        start -= 1
    return start


def table_lines(body):
    """How many lines of the body belong to initializers of arrays."""
    count, closing = 0, None
    for line in body:
        if closing is None:
            match = TABLE_START.match(line)
            if match:
                closing = match[1] + '};'
        elif line.startswith(closing):
            closing = None
        else:
            count += 1
    return count


def parameters(head):
    """How many parameters the head declares (commas inside () not counted)."""
    depth, count = 0, 0
    start = head.find('(')
    for c in head[start:]:
        depth += (c == '(') - (c == ')')
        if depth == 0:
            break
        count += c == ',' and depth == 1
    inside = head[start + 1:].split(')')[0].strip()
    return 0 if inside in ('', 'void') else count + 1


def functions(text):
    """Yields (line, name, length, parameters) for each function."""
    opening = None
    for at, line in enumerate(text):
        if line == '{':
            opening = at
        elif line.startswith('}') and opening is not None:
            start = head_of(text, opening)
            head = ATTRIBUTE.sub('', ' '.join(text[start:opening]))
            name = re.search(r'(\w+)\s*\(', head)
            yield (start + 1, name[1] if name else '?',
                   at - start + 1 - table_lines(text[opening:at]),
                   parameters(head))
            opening = None


def quantile(values, q):
    return values[min(len(values) - 1, int(q * len(values)))] if values else 0
