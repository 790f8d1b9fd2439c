# options.py - the command line that all benchmark scripts have in common.
# SPDX-License-Identifier: Apache-2.0
import argparse

EXITS = ('Exit: 0 measured, 1 something failed to run, 2 wrong usage, '
         '3 a bar was missed (with --strict), 77 nothing to measure with is '
         'installed (with --smoke).')
SCALES = ('full', 'quick', 'smoke')


def words(known):
    """A type of argparse: a list of known words, separated by commas."""
    def parse_list(text):
        found = text.split(',')
        for word in found:
            if word not in known:
                raise argparse.ArgumentTypeError(
                    f"'{word}' is none of {', '.join(known)}")
        return found
    return parse_list


def chosen(lists, known):
    """What was asked for, in the order of `known`; all of it if nothing was."""
    asked = {word for words_ in lists for word in words_}
    return [word for word in known if not asked or word in asked]


def add_choice(parser, name, metavar, known, text):
    """An option that takes a list, and may be repeated; see chosen()."""
    parser.add_argument(name, type=words(known), action='append', default=[],
                        metavar=metavar + ',...',
                        help=f'{text} (may be repeated): ' + ', '.join(known))


def common(prog, description):
    """A parser with all that a Session needs."""
    p = argparse.ArgumentParser(prog=prog, description=description,
                                epilog=EXITS)
    p.add_argument('build', nargs='?', default='build', metavar='BUILD',
                   help='build directory, with weir inside (default: build)')
    scale = p.add_mutually_exclusive_group()
    scale.add_argument('--quick', dest='scale', action='store_const',
                       const='quick', default='full',
                       help='few samples and rounds: a first look, no figures')
    scale.add_argument('--smoke', dest='scale', action='store_const',
                       const='smoke', help='hardly any data: shows that every '
                       'row can be measured here; its figures mean nothing')
    p.add_argument('--data', metavar='DIR', help='where the data sets are '
                   'kept, made once (default: BUILD/bench/data)')
    p.add_argument('--out', metavar='DIR', help='where the records and '
                   'results.json are written')
    p.add_argument('--last', action='store_true',
                   help='measure nothing, print the last results')
    p.add_argument('--markdown', action='store_true',
                   help='print the table as Markdown')
    p.add_argument('--strict', action='store_true',
                   help='exit with 3 when a bar was missed')
    return p
