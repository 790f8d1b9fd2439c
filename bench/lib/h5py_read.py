# h5py_read.py - what h5py does with one file: make KIND FILE N | read ...
# SPDX-License-Identifier: Apache-2.0
#
# make FILE SAMPLES KIND: a file of 8 KB samples: 'chunks' (as many chunks as
# samples, of 64 bytes), 'gzip' (16 samples in a chunk), 'plain', or 'voxels'
# (samples of 4 KB).
# read FILE SAMPLES ROUNDS: random samples one by one, as f['x'][i] gives them;
# prints samples per second of each round.
import sys
import time

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit('no h5py (Debian: python3-h5py)')

PIECE = 4096


def make(path, samples, kind):
    shape = {'chunks': (64,), 'voxels': (16, 64)}.get(kind, (32, 64))
    dtype = 'u1' if kind == 'chunks' else '<f4'
    options = {'chunks': {'chunks': (1, 64)},
               'gzip': {'chunks': (16, 32, 64), 'compression': 'gzip'}}
    rng = np.random.default_rng(1)
    with h5py.File(path, 'w') as f:
        d = f.create_dataset('x', (samples, *shape), dtype,
                             **options.get(kind, {}))
        for i in range(0, samples, PIECE):
            n = min(PIECE, samples - i)
            d[i:i + n] = (rng.integers(0, 256, (n, *shape)) // 4).astype(dtype)
        f['y'] = np.arange(samples) % 10


def read(path, samples, rounds):
    rng = np.random.default_rng(2)
    for _ in range(rounds):
        with h5py.File(path) as f:
            d = f['x']
            ids = rng.permutation(len(d))[:samples]
            start = time.monotonic()
            for i in ids:
                d[i]
            print(len(ids) / (time.monotonic() - start), flush=True)


if sys.argv[1] == 'make':
    make(sys.argv[2], int(sys.argv[3]), sys.argv[4])
else:
    read(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
