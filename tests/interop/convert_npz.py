#!/usr/bin/python3
# convert_npz.py - arrays that weir convert writes, read by NumPy.
# SPDX-License-Identifier: Apache-2.0
"""usage: convert_npz.py WEIR

Arrays of every type go through `weir convert --to npz`, stored and deflated,
in several shards: NumPy finds the same values, and every checksum is right,
also where a sample was left out."""

import glob
import os
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

WEIR = os.path.abspath(sys.argv[1])
TYPES = ('i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f2', 'f4', 'f8',
         '?', 'c8')
COUNT = 37


def weir(*args):
    done = subprocess.run([WEIR, *args], capture_output=True, text=True)
    assert done.returncode == 0, (args, done.stderr)


def joined(folder):
    """The arrays of all shards, in order."""
    parts = {}
    for path in sorted(glob.glob(os.path.join(folder, '*.npz'))):
        assert zipfile.ZipFile(path).testzip() is None, path
        with np.load(path) as z:
            for name in z.files:
                parts.setdefault(name, []).append(z[name])
    return {name: np.concatenate(all_) for name, all_ in parts.items()}


def check_types(options):
    rng = np.random.default_rng(7)
    arrays = {'t_' + t.replace('?', 'bool'):
              rng.integers(0, 2 if t == '?' else 100, (COUNT, 3, 5)).astype(t)
              for t in TYPES}
    arrays['y'] = np.arange(COUNT, dtype='i8') % 4
    np.savez('in.npz', **arrays)
    weir('convert', 'in.npz', 'out', '--to', 'npz', '--shard-size', '3KiB',
         *options)
    assert len(glob.glob('out/*.npz')) > 3
    got = joined('out')
    assert set(got) == set(arrays), (set(got), set(arrays))
    for name, want in arrays.items():
        assert got[name].dtype == want.dtype, name
        assert np.array_equal(got[name], want), name
    weir('convert', 'in.npz', 'few', '--to', 'npz', '--fields', 't_f4,y',
         *options)
    assert set(joined('few')) == {'t_f4', 'y'}


def check_holes(options):
    weir('gen', 'caltech101', 'tree', '-n', '120', '-c', '3', '-q')
    files = sorted(glob.glob('tree/*/*.jpg'))
    weir('convert', 'tree', 'whole', '--to', 'npz', '--size', '24x24')
    for k in (0, 5, 6, 60, 119):
        with open(files[k], 'w') as f:
            f.write('broken')
    weir('convert', 'tree', 'holes', '--to', 'npz', '--size', '24x24',
         '--shard-size', '60KiB', *options)
    keep = [k for k in range(120) if k not in (0, 5, 6, 60, 119)]
    want, got = joined('whole'), joined('holes')
    for name in ('image', 'label'):
        assert np.array_equal(got[name], want[name][keep]), name


def main():
    for options in ((), ('--deflate',)):
        for check in (check_types, check_holes):
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                check(options)
                os.chdir('/')


main()
