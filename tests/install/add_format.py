#!/usr/bin/env python3
# add_format.py - a format is added as docs/howto/add-a-format.md says.
# SPDX-License-Identifier: Apache-2.0
"""usage: add_format.py SOURCES

In a copy of the sources: the file and the line of the page, then the command is
built; a file of that format is inspected, measured and converted, and what comes
out is what was put in."""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

PAGE = 'docs/howto/add-a-format.md'
LIST = 'src/format/formats.def'
RECORDS, SIDE = 200, 32


def not_copied(folder, names):
    """Builds, and what no build needs."""
    return [name for name in names if name in ('.git', 'corpus') or
            os.path.exists(os.path.join(folder, name, 'build.ninja')) or
            (name == 'data' and os.path.basename(folder) == 'tests')]


def follow(root):
    with open(os.path.join(root, PAGE), encoding='utf-8') as f:
        page = f.read()
    name, = re.findall(r'^/\* (\w+)\.c - ', page, re.M)
    source, = re.findall(r'^```c\n(.*?)^```', page, re.M | re.S)
    line, = re.findall(r'^```\n(FORMAT\(\w+\)\n)```', page, re.M)
    with open(os.path.join(root, f'src/format/{name}.c'), 'w',
              encoding='utf-8') as f:
        f.write(source)
    path = os.path.join(root, LIST)
    with open(path, encoding='utf-8') as f:
        text = f.read()
    last = re.findall(r'^FORMAT\(\w+\)\n', text, re.M)[-1]
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text.replace(last, last + line))
    return name


def run(*words):
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        sys.exit(f'{" ".join(words)}: exit {done.returncode}\n{done.stdout}')
    return done.stdout


def build(root):
    run('meson', 'setup', '-Dtests=disabled', '-Dbuildtype=debug',
        '-Doptimization=0', '-Ddebug=false', os.path.join(root, 'build'), root)
    run('ninja', '-C', os.path.join(root, 'build'), 'weir')
    return os.path.join(root, 'build', 'weir')


def make(path):
    """Records of a label and three planes; returns the pictures, pixel by
    pixel."""
    rng, planes = random.Random(1), SIDE * SIDE
    pictures = []
    with open(path, 'wb') as f:
        for k in range(RECORDS):
            bytes_ = rng.randbytes(3 * planes)
            f.write(bytes([k % 10]) + bytes_)
            pictures.append(bytes(bytes_[c * planes + i] for i in range(planes)
                                  for c in range(3)))
    return b''.join(pictures)


def contents(folder, ending):
    found = [name for name in sorted(os.listdir(folder))
             if name.endswith(ending)]
    with open(os.path.join(folder, found[0]), 'rb') as f:
        return f.read()


def check(weir, name, folder):
    data, made = os.path.join(folder, 'data.bin'), os.path.join(folder, 'made')
    pictures = make(data)
    shown = run(weir, 'inspect', data)
    for wanted in (f'data.bin: {name}', f'{RECORDS} in 1 file', '32x32x3 u8',
                   f'10, each of {RECORDS // 10} samples'):
        assert wanted in shown, shown
    shown = run(weir, 'bench', data, '--repeat', '2', '--no-limits')
    assert f'{name}, {RECORDS} samples' in shown, shown
    assert name in run(weir, 'completion', 'bash')
    run(weir, 'convert', data, made, '--to', 'npy', '--dtype', 'u8')
    assert contents(made, '0001.npy').endswith(pictures)
    labels = b''.join((k % 10).to_bytes(4, 'little') for k in range(RECORDS))
    assert contents(made, '.labels.npy').endswith(labels)


def main(sources):
    os.environ['WEIR_INDEX_DIR'] = ''
    with tempfile.TemporaryDirectory(prefix='weir-test-') as folder:
        root = os.path.join(folder, 'sources')
        shutil.copytree(sources, root, symlinks=True, ignore=not_copied)
        name = follow(root)
        check(build(root), name, folder)


main(sys.argv[1])
