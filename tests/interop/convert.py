#!/usr/bin/python3
# convert.py - what weir convert writes, read by Python.
# SPDX-License-Identifier: Apache-2.0
"""usage: convert.py WEIR

Converts a small tree of JPEGs and reads the results with Python's tarfile, a
few lines that know TFRecord and protobuf, and NumPy where it is installed:
pictures have the bytes of the source, labels and keys are the source's."""

import glob
import json
import os
import struct
import subprocess
import sys
import tarfile
import tempfile

WEIR = os.path.abspath(sys.argv[1])
SAMPLES, CLASSES = 40, 4


def weir(*args):
    done = subprocess.run([WEIR, *args], capture_output=True, text=True)
    assert done.returncode == 0, (args, done.stderr)
    return done.stdout


def classes(folder):
    return sorted(os.path.basename(p) for p in glob.glob(f'{folder}/*'))


def source(folder):
    """{key: (bytes, label)} of the tree."""
    out = {}
    for label, name in enumerate(classes(folder)):
        for path in glob.glob(os.path.join(folder, name, '*.jpg')):
            with open(path, 'rb') as f:
                key = os.path.relpath(path, folder)[:-len('.jpg')]
                out[key] = f.read(), label
    assert len(out) == SAMPLES
    return out


# --- TFRecord ---

def varint(b, at):
    v = shift = 0
    while True:
        v |= (b[at] & 127) << shift
        at += 1
        if b[at - 1] < 128:
            return v, at
        shift += 7


def fields(b):
    at = 0
    while at < len(b):
        tag, at = varint(b, at)
        n, at = varint(b, at)
        assert tag & 7 == 2 and at + n <= len(b)
        yield tag >> 3, b[at:at + n]
        at += n


def features(example):
    out = {}
    for _, body in fields(example):
        for _, entry in fields(body):
            e = dict(fields(entry))
            (kind, values), = fields(e[2])
            (_, value), = fields(values)
            out[e[1].decode()] = varint(value, 0)[0] if kind == 3 else value
    return out


def read_tfrecord(folder):
    out = {}
    for path in sorted(glob.glob(os.path.join(folder, '*.tfrecord'))):
        with open(path, 'rb') as f:
            b = f.read()
        at = 0
        while at < len(b):
            n, = struct.unpack_from('<Q', b, at)
            f = features(b[at + 12:at + 12 + n])
            at += n + 16
            picture = f['image/encoded']
            keys = [v.decode() for v in f.values()
                    if isinstance(v, bytes) and v.startswith(b'class_')
                    and b'/' in v]
            assert len(set(keys)) == 1, f.keys()
            key = keys[0][:-4] if keys[0].endswith('.jpg') else keys[0]
            out[key] = picture, f['image/class/label']
        assert at == len(b)
    return out


# --- tar ---

def read_tar(folder):
    pictures, labels = {}, {}
    for path in sorted(glob.glob(os.path.join(folder, '*.tar'))):
        with tarfile.open(path) as tar:
            for member in tar:
                key, _, ending = member.name.partition('.')
                data = tar.extractfile(member).read()
                if ending == 'jpg':
                    pictures[key] = data
                elif ending == 'cls':
                    labels[key] = int(data)
    return {k: (v, labels[k]) for k, v in pictures.items()}


# --- tensors ---

def read_wt(path):
    import numpy as np
    with open(path, 'rb') as f:
        raw = f.read()
    magic, _, dtype, ndim, _, count = struct.unpack_from('<8sIIIIQ', raw)
    assert magic == b'WEIRTNS1'
    dims = struct.unpack_from('<%dQ' % ndim, raw, 64)
    labels = np.frombuffer(raw, '<u4', count, 128)
    kind = {0: np.float32, 1: np.float16, 2: np.uint8}[dtype]
    data = np.frombuffer(raw, kind, offset=(128 + 4 * count + 4095) // 4096
                         * 4096)
    return data.reshape((count,) + dims), labels


def check_tensors(tree):
    """Both files hold the same; f32 in planes is u8, normalized."""
    import numpy as np
    common = ('--size', '20x16', '--shard-size', '20KiB')
    weir('convert', tree, 'wt', '--to', 'tensor', *common)
    weir('convert', tree, 'npy', '--to', 'npy', *common)
    weir('convert', tree, 'f32', '--to', 'npy', '--dtype', 'f32', '--layout',
         'nchw', '--normalize', 'none', '--size', '20x16', '--shard-size', '0')
    parts, labels = [], []
    for path in sorted(glob.glob('wt/*.wt')):
        data, marks = read_wt(path)
        beside = path.replace('wt/', 'npy/', 1)[:-len('.wt')]
        assert np.array_equal(data, np.load(beside + '.npy'))
        assert np.array_equal(marks, np.load(beside + '.labels.npy'))
        assert data.nbytes <= 20 * 1024
        parts.append(data)
        labels += list(marks)
    u8 = np.concatenate(parts)
    assert u8.shape == (SAMPLES, 16, 20, 3) and u8.dtype == np.uint8
    assert sorted(labels) == labels and len(set(labels)) == CLASSES
    f32, = (np.load(p) for p in glob.glob('f32/*-00001.npy'))
    want = u8.transpose(0, 3, 1, 2).astype(np.float64) / 255
    # u8 is the rounded one
    assert np.abs(f32 - want).max() <= 0.51 / 255


def main():
    with tempfile.TemporaryDirectory() as tmp:
        os.chdir(tmp)
        weir('gen', 'caltech101', 'tree', '-n', str(SAMPLES), '-c',
             str(CLASSES), '-q')
        want = source('tree')
        for to, read in (('tfrecord', read_tfrecord), ('tar', read_tar)):
            done = json.loads(weir('convert', 'tree', to, '--to', to,
                                   '--shard-size', '200KiB', '--order',
                                   'shuffle', '--json'))
            assert done['samples'] == SAMPLES and done['bad_count'] == 0
            assert done['shards'] == len(glob.glob(f'{to}/tree-*.{to}')) > 1
            assert read(to) == want, to
            with open(f'{to}/classes.txt', encoding='utf-8') as f:
                assert f.read().split() == classes('tree')
        try:
            import numpy
        except ImportError:
            print('no NumPy: tensors not read', file=sys.stderr)
        else:
            assert numpy
            check_tensors('tree')


main()
