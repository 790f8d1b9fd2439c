# man3.py - man pages of section 3 from the comments of the public headers.
# SPDX-License-Identifier: Apache-2.0
#
# usage: man3.py --list HEADER...             the names of the pages
#        man3.py OUTDIR VERSION HEADER...     the pages
#
# A header has one page of its own (pipeline.h: weir_pipeline(3)) with its types
# and an overview; a function has one too, or shares it with those that stand
# under the same comment, which get links.
import os
import re
import sys

NAME = re.compile(r'\b(weir_\w+)\s*\(')
OPENING = re.compile(r'(enum|struct|union|typedef)\b')


class Block:
    """One comment and what is declared under it."""

    def __init__(self, comment, line):
        self.comment = comment # paragraphs
        self.line = line
        self.types = []        # texts
        self.functions = []    # (name, prototype)


class Header:
    def __init__(self, path):
        self.path = path
        self.file = os.path.basename(path)
        stem = self.file[:-2]
        self.page = 'weir' if stem == 'weir' else 'weir_' + stem
        self.blocks = []
        with open(path, encoding='utf-8') as f:
            self.parse(f.read().split('\n'))

    def parse(self, lines):
        head, k = take_comment(lines, 0)
        title, _, rest = head.partition(' - ')
        del title
        summary, _, text = rest.partition('SPDX-License-Identifier')
        self.summary = ' '.join(summary.split()).rstrip('.')
        self.text = text.partition('\n')[2]
        block = None
        while k < len(lines):
            line = lines[k]
            if line.startswith('/*'):
                comment, end = take_comment(lines, k)
                block = self.add(Block(comment, k + 1))
                k = end
                continue
            if not line.strip():
                block = None
            elif line.startswith('WEIR_API'):
                text, k = take(lines, k, ';')
                block = block or self.add(Block('', k))
                proto = ' '.join(text.replace('WEIR_API ', '', 1).split())
                block.functions.append((NAME.search(proto).group(1), proto))
            elif line.startswith('static inline'):
                text, k = take(lines, k, '}')
                proto = text.replace('static inline ', '').partition('{')[0]
                proto = ' '.join(proto.split()) + ';'
                block.functions.insert(0, (NAME.search(proto).group(1), proto))
            elif OPENING.match(line):
                text, k = take(lines, k, ';' if line.endswith(';') else '}')
                block = block or self.add(Block('', k))
                block.types.append(text)
            elif line.startswith('#define WEIR_') and is_for_users(line):
                text, k = take_define(lines, k)
                block = block or self.add(Block('', k))
                block.types.append(text)
            k += 1

    def add(self, block):
        self.blocks.append(block)
        return block

    def functions(self):
        return [b for b in self.blocks if b.functions]


def is_for_users(line):
    """Not the guard, not the marks of this header's own machinery."""
    return not re.match(r'#define WEIR_(\w+_H$|API\b|\w+_ENUM\()', line)


def take_comment(lines, k):
    """The text of the comment that begins at line k; the line behind it."""
    texts = []
    while True:
        line = lines[k]
        end = line.rstrip().endswith('*/')
        line = re.sub(r'\s*\*/\s*$', '', line)
        texts.append(re.sub(r'^(/\*| \*) ?', '', line))
        k += 1
        if end:
            return '\n'.join(texts), k


def take(lines, k, mark):
    """A declaration: up to a line that ends in ';', or one that begins so."""
    first = k
    while not (lines[k].rstrip().endswith(';') if mark == ';'
               else lines[k].startswith('}')):
        k += 1
    return '\n'.join(lines[first:k + 1]), k


def take_define(lines, k):
    first = k
    while lines[k].endswith('\\'):
        k += 1
    return '\n'.join(re.sub(r'\s*\\$', ' \\\\', x)
                     for x in lines[first:k + 1]), k


# --- roff ---

def escape(text):
    text = text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq')
    return '\n'.join('\\&' + x if x.startswith('.') else x
                     for x in text.split('\n'))


def prose(text, names):
    """Text with `words` in italics and functions with their section."""
    text = escape(text)
    text = re.sub(r'`([^`\n]+)`', r'\\fI\1\\fP', text)
    return re.sub(r'\b(weir_\w+)(\(\))?', lambda m: m.group(0)
                  if m.group(1) not in names
                  else f'\\fB{m.group(1)}\\fP(3)', text)


def paragraphs(text, names):
    """Paragraphs; what is indented is shown as it is."""
    out, shown = [], False
    for line in text.strip('\n').split('\n'):
        indented = bool(re.match(r' {3,}', line)) and not in_list(out)
        if indented and not shown:
            out.append('.EX')
        elif shown and not indented and line:
            out.append('.EE')
        shown = shown and not line or indented
        if not line:
            out.append('' if shown else '.PP')
        elif indented:
            out.append(escape(line) or '')
        else:
            out += item(line, names)
    if shown:
        out.append('.EE')
    return roff_lines(out)


def in_list(out):
    for line in reversed(out):
        if line in ('.PP', '.EE'):
            return False
        if line.startswith('.IP'):
            return True
    return False


def item(line, names):
    m = re.match(r' (\d+\.) (.*)', line)
    if m:
        return [f'.IP {m.group(1)} 4', prose(m.group(2), names)]
    return [prose(line.strip(), names)]


def roff_lines(lines):
    """Without paragraphs that begin nothing, which groff warns of."""
    out = []
    for k, line in enumerate(lines):
        if line == '' and (k + 1 == len(lines) or lines[k + 1] == '.EE'):
            continue
        if line == '.PP' and k + 1 < len(lines) and \
                lines[k + 1].startswith('.'):
            continue
        out.append(line)
    return '\n'.join(out) + '\n'


def shown(text):
    lines = [escape(x) for x in text.split('\n')]
    return '.EX\n' + '\n'.join(lines) + '\n.EE\n'


def title(page, version):
    return ('.\\" Made from include/weir/; do not edit.\n'
            f'.TH {page} 3 "" "weir {version}" "weir manual"\n.nh\n.ad l\n')


def first_sentence(text):
    text = ' '.join(text.split())
    text = re.split(r'(?<=[^.])\.(?:\s|$)|[;:]\s(?![^(]*\))', text)[0]
    text = text.replace('`', '')
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def synopsis(header, protos):
    lines = ''.join(f'.BI "{escape(p)}"\n.br\n' for p in protos)
    return (f'.SH SYNOPSIS\n.B #include <weir/{header.file}>\n.PP\n'
            + lines.removesuffix('.br\n'))


def function_page(header, block, names, version):
    own = [name for name, _ in block.functions]
    out = title(own[0], version)
    out += '.SH NAME\n' + ', '.join(own) + ' \\- ' + \
        escape(first_sentence(block.comment) or header.summary) + '\n'
    out += synopsis(header, [p for _, p in block.functions])
    out += '.SH DESCRIPTION\n' + \
        paragraphs(block.comment, names - set(own))
    if any('weir_err *' in p for _, p in block.functions):
        out += ('.SH ERRORS\nA negative WEIR_E... is returned and\n.I err\n'
                '(may be NULL) receives it with a message; see\n'
                '.BR weir_error (3).\n')
    return out + see_also([header.page, 'weir'])


def see_also(pages):
    pages = [p for k, p in enumerate(pages) if p not in pages[:k]]
    return '.SH "SEE ALSO"\n' + ',\n'.join(f'.BR {p} (3)'
                                           for p in pages) + '\n'


def header_page(header, headers, names, version):
    out = title(header.page, version)
    out += f'.SH NAME\n{header.page} \\- {escape(header.summary)}\n'
    out += f'.SH SYNOPSIS\n.B #include <weir/{header.file}>\n'
    if header.page == 'weir':
        out += '.PP\n.B cc ... $(pkg\\-config \\-\\-cflags \\-\\-libs weir)\n'
    if header.text.strip():
        out += '.SH DESCRIPTION\n' + paragraphs(header.text, names)
    if header.functions():
        out += '.SH FUNCTIONS\n'
    for block in header.functions():
        own = ', '.join(f'{name}(3)' for name, _ in block.functions)
        out += f'.TP\n.B "{own}"\n{prose(first_sentence(block.comment), set())}\n'
    types = [b for b in header.blocks if b.types]
    if types:
        out += '.SH TYPES\n'
    for block in types:
        out += '.PP\n' + paragraphs(block.comment, names) \
            if block.comment else '.PP\n'
        out += ''.join(shown(text) for text in block.types)
    if header.page == 'weir':
        out += '.SH ENVIRONMENT\nSee\n.BR weir (1).\n'
        return out + see_also([h.page for h in headers if h.page != 'weir'])
    return out + see_also(['weir'] + [h.page for h in headers])


def pages(headers, version):
    """The pages by their names, without ".3"."""
    names = {name for h in headers for b in h.blocks for name, _ in b.functions}
    names |= {h.page for h in headers}
    made = {}
    for h in headers:
        made[h.page] = header_page(h, headers, names, version)
        for block in h.functions():
            own = [name for name, _ in block.functions]
            made[own[0]] = function_page(h, block, names, version)
            made.update({n: f'.so man3/{own[0]}.3\n' for n in own[1:]})
    return made


def main(args):
    if args[0] == '--list':
        for name in pages([Header(p) for p in args[1:]], ''):
            print(name + '.3')
        return
    for name, text in pages([Header(p) for p in args[2:]], args[1]).items():
        with open(os.path.join(args[0], name + '.3'), 'w',
                  encoding='utf-8') as f:
            f.write(text)


if __name__ == '__main__':
    main(sys.argv[1:])
