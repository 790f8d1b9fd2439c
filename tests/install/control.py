#!/usr/bin/python3
# control.py - debian/control names what the build takes, and what programs that
# link with the static library need.
# SPDX-License-Identifier: Apache-2.0
"""usage: control.py SOURCE BUILD"""
import os
import re
import sys


def depends(text, package, field):
    """The packages in a field of a stanza, alternatives one by one."""
    stanza = re.search(rf'^{package}\n(.*?)(?:\n\n|\Z)', text, re.M | re.S)[1]
    value = re.search(rf'^{field}: (.*(?:\n .*)*)', stanza, re.M)[1]
    return set(re.findall(r'(?:^|[,|])\s*([a-z0-9.+-]+)', value))


def wanted(path, *groups):
    """[(packages of which one is enough, probe)] of packages.txt."""
    with open(path, encoding='utf-8') as file:
        rows = [line.split() for line in file if not line.startswith('#')]
    return [(set(row[1].split('|')), row[2]) for row in rows
            if row and row[0] in groups]


def main(source, build):
    with open(os.path.join(source, 'debian/control'), encoding='utf-8') as file:
        text = file.read()
    rows = wanted(os.path.join(source, 'scripts/packages.txt'), 'build', 'deb')
    essential = {'gcc', 'libc6-dev', 'dpkg-dev', 'debhelper', 'lintian'}
    named = depends(text, 'Source: weir', 'Build-Depends')
    lost = [f"Build-Depends: {' | '.join(sorted(any_of))}"
            for any_of, _ in rows if not any_of & (named | essential)]

    with open(os.path.join(build, 'meson-private/weir.pc'),
              encoding='utf-8') as file:
        private = re.search('^Requires.private: (.*)', file.read(), re.M)[1]
    linked = {'pkg:' + name.split()[0] for name in private.split(',')}
    named = depends(text, 'Package: libweir-dev', 'Depends')
    lost += [f"libweir-dev: {' | '.join(sorted(any_of))}"
             for any_of, probe in rows if probe in linked and not any_of & named]
    for line in lost:
        print('debian/control does not name', line)
    return bool(lost)


sys.exit(main(*sys.argv[1:]))
