# gen_workload.py - other programs read what weir gen makes of a workload.
# SPDX-License-Identifier: Apache-2.0
#
# usage: gen_workload.py WEIR      exit 77: NumPy is missing
import glob
import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import tempfile

try:
    import numpy as np
except ImportError:
    print('no NumPy', file=sys.stderr)
    sys.exit(77)

SAMPLES, SIDE = 3, 60
weir = os.path.abspath(sys.argv[1])


def make(name, data_format, *changes, samples=SAMPLES):
    subprocess.run(
        [weir, 'gen', 'default', name, f'dataset.format={data_format}',
         'dataset.num_files_train=4', 'dataset.num_files_eval=1',
         'dataset.num_subfolders_train=0', 'dataset.num_subfolders_eval=0',
         f'dataset.num_samples_per_file={samples}',
         f'dataset.record_length_bytes={SIDE * SIDE}', '-q', *changes],
        check=True, stdout=subprocess.DEVNULL)
    files = sorted(f for f in glob.glob(f'{name}/train/*')
                   if not f.endswith('.idx'))
    assert len(files) == 4, files
    return files


def is_noise(a):
    assert 115 < a.mean() < 140 and a.std() > 60, (a.mean(), a.std())


def numpy_files():
    for f in make('npz', 'npz'):
        with np.load(f) as z:
            assert sorted(z.files) == ['x', 'y']
            assert z['x'].shape == (SIDE, SIDE, SAMPLES)
            assert z['x'].dtype == np.uint8
            assert z['y'].shape == (SAMPLES,) and z['y'].dtype == np.int64
            is_noise(z['x'])
    for f in make('npy', 'npy', 'dataset.record_element_type=float32',
                  'dataset.record_dims=[4,5,6]'):
        a = np.load(f)
        assert a.shape == (4, 5, 6, SAMPLES) and a.dtype == np.float32
        assert np.isfinite(a).all() and np.abs(a).max() < 2


def indexed_binary():
    for f in make('ib', 'indexed_binary'):
        off = np.fromfile(f + '.off.idx', '<u8')
        size = np.fromfile(f + '.sz.idx', '<u8')
        assert list(off) == [i * SIDE * SIDE for i in range(SAMPLES)]
        assert list(size) == [SIDE * SIDE] * SAMPLES
        assert os.path.getsize(f) == SAMPLES * SIDE * SIDE
        is_noise(np.fromfile(f, np.uint8))


def tfrecord():
    """The framing by hand, and the bytes between the two names."""
    for f in make('tfr', 'tfrecord'):
        raw = open(f, 'rb').read()
        at = count = 0
        while at < len(raw):
            n, = struct.unpack_from('<Q', raw, at)
            body = raw[at + 12:at + 12 + n]
            assert b'image' in body[:40] and b'size' in body[-40:]
            is_noise(np.frombuffer(body[40:-40], np.uint8))
            at += n + 16
            count += 1
        assert count == SAMPLES and at == len(raw)
        lines = open(f'tfr/index/train/{os.path.basename(f)}.idx').read()
        step = at // SAMPLES
        assert lines == ''.join(f'{i * step} {step}\n' for i in range(SAMPLES))


def text_and_tar():
    for f in make('jsonl', 'jsonl'):
        rows = [json.loads(line) for line in open(f, encoding='ascii')]
        assert [len(r['x']) for r in rows] == [SIDE * SIDE] * SAMPLES
        is_noise(np.array(rows[0]['x']))
    for f in make('tar', 'tar'):
        with tarfile.open(f) as t:
            names = t.getnames()
            assert len(names) == 2 * SAMPLES, names
            a = np.load(io.BytesIO(t.extractfile(names[0]).read()))
            assert a.shape == (SIDE, SIDE)
    for f in make('csv', 'csv'):
        a = np.loadtxt(f, delimiter=',')
        assert a.shape == (SAMPLES, SIDE * SIDE)
        is_noise(a)
    try:
        import pandas
    except ImportError:
        return
    assert pandas.read_csv('csv/train/img_0_of_4.csv',
                           header=None).shape == (SAMPLES, SIDE * SIDE)


def hdf5():
    try:
        import h5py
    except ImportError:
        return
    try:
        files = make('hdf5', 'hdf5', 'dataset.hdf5.num_dset_per_record=2',
                     'dataset.record_dims=[6,5]')
    except subprocess.CalledProcessError:
        return # a build without HDF5
    cut = make('hdf5-chunks', 'hdf5', 'dataset.hdf5.num_dset_per_record=2',
               'dataset.record_dims=[6,5]', 'dataset.hdf5.chunk_dims=[2,2,3]')
    for f, c in zip(files, cut):
        with h5py.File(f) as h, h5py.File(c) as g:
            for name in ('records_0', 'records_1'):
                assert h[name].chunks is None
                assert g[name].chunks == (min(2, SAMPLES), 2, 3)
                assert (h[name][...] == g[name][...]).all()
            assert g['labels'].chunks is None
    for f in files:
        with h5py.File(f) as h:
            assert sorted(h) == ['labels', 'records_0', 'records_1']
            assert h['records_1'].shape == (SAMPLES, 3, 5)
            assert h['labels'].dtype == np.int64
            assert h['records_0'][:].std() > 30


def pictures():
    try:
        from PIL import Image
    except ImportError:
        return
    for kind in ('jpeg', 'png'):
        for f in make(kind, kind, samples=1):
            a = np.asarray(Image.open(f))
            assert a.shape == (SIDE, SIDE) and a.dtype == np.uint8
            size = os.path.getsize(f)
            if kind == 'jpeg':
                assert size == SIDE * SIDE, size
            else:
                is_noise(a)
                assert SIDE * SIDE <= size < SIDE * SIDE * 1.05, size
    for f in make('photos', 'jpeg', 'weir.content=photos',
                  'dataset.record_length_bytes=30000', samples=1):
        Image.open(f).load()


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    numpy_files()
    indexed_binary()
    tfrecord()
    text_and_tar()
    hdf5()
    pictures()
    os.chdir('/')
