#!/usr/bin/env python3
# lock.py - writes what a peer is installed from: versions and hashes.
# SPDX-License-Identifier: Apache-2.0
#
# usage: python3 -m pip install --dry-run --ignore-installed --report R.json ...
#        lock.py R.json... [NAME==VERSION...] >NAME.txt
#
# What pip would have to build to learn what it needs is named by hand. A line is a package, with the hashes of its wheels for Linux on the processors
# and Pythons that weir is tried on, or of its source. The rest of what PyPI has
# is left out.
import json
import re
import sys
import urllib.request

WHEEL = re.compile(r'-(py[23.py]*-none|cp3(11|12|13)-(cp3(11|12|13)|abi3)|'
                   r'cp3[0-9]+-abi3)-'
                   r'(any|[a-z0-9_.]*linux[a-z0-9_.]*(x86_64|aarch64))\.whl$')


LINK = re.compile(r'href="[^"#]*?([^"/#]+)#sha256=([0-9a-f]{64})"')


def hashes_of(name, version):
    with urllib.request.urlopen(f'https://pypi.org/simple/{name}/',
                                timeout=60) as answer:
        files = LINK.findall(answer.read().decode())
    files = [f for f in files if f'-{version}-' in f[0] or
             f[0].endswith((f'-{version}.tar.gz', f'-{version}.zip'))]
    wheels = [f for f in files if WHEEL.search(f[0]) and 'musllinux' not in f[0]]
    found = wheels or [f for f in files if not f[0].endswith('.whl')]
    if not found:
        raise SystemExit(f'{name} {version}: no wheel and no source')
    return sorted({f[1] for f in found})


def main(arguments):
    wanted = dict(a.split('==') for a in arguments if '==' in a)
    for report in arguments:
        if '==' in report:
            continue
        with open(report, encoding='utf-8') as file:
            for item in json.load(file)['install']:
                meta = item['metadata']
                wanted[meta['name'].lower().replace('_', '-')] = meta['version']
    for name, version in sorted(wanted.items()):
        print(f'{name}=={version}',
              *(f'--hash=sha256:{h}' for h in hashes_of(name, version)))


if __name__ == '__main__':
    main(sys.argv[1:])
