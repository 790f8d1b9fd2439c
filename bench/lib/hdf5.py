# hdf5.py - HDF5 files: indexed, and read at random, against h5py.
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import statistics
import sys
import tempfile

from lib import weir
from lib.million import make_older, opened
from lib.mount import mounted, need_mount
from lib.report import Row
from lib.session import Failure, Missing

INDEX_BAR_S, OPEN_BAR_MS = 3.0, 50
READ_BAR, GZIP_BAR, DEVICE_BAR = 0.85, 3.0, 10.0
SCRIPT = os.path.join(os.path.dirname(__file__), 'h5py_read.py')


def h5py(session, *args):
    try:
        out = session.run([sys.executable, '-B', SCRIPT, *map(str, args)],
                          quiet=True).stdout
    except Failure as e:
        if 'no h5py' in str(e):
            raise Missing('no h5py: scripts/deps.sh test installs it') from e
        raise
    return [float(line) for line in out.splitlines()]


def made(session, kind, samples):
    path = os.path.join(session.data, f'{kind}-{samples}.h5')
    if not os.path.exists(path):
        session.say(f'generating {samples:,} samples of HDF5, {kind}')
        h5py(session, 'make', path + '.half', samples, kind)
        os.rename(path + '.half', path)
    make_older(path)
    return path


def index_rows(session):
    path = made(session, 'chunks', session.pick(1000000, 100000, 1000))
    session.warm(path)
    folder = tempfile.mkdtemp(dir=session.data)
    fresh, again = [], []
    try:
        for _ in range(session.rounds(5, 2)):
            fresh.append(opened(session, path)['seconds'])
        opened(session, path, folder)
        for _ in range(session.rounds(9, 3)):
            last = opened(session, path, folder)
            again.append(last['seconds'] * 1000)
    finally:
        shutil.rmtree(folder)
    seconds, ms = statistics.median(fresh), statistics.median(again)
    count = last['samples']
    return [
        Row(f'HDF5 of {count:,} chunks, indexed', f'< {INDEX_BAR_S:.0f} s',
            f'{seconds:.2f} s', seconds < INDEX_BAR_S,
            [f"{last['memory_bytes'] / count:.0f} bytes of memory per chunk"]),
        Row(f'HDF5 of {count:,} chunks, opened again', f'< {OPEN_BAR_MS} ms',
            f'{ms:.1f} ms', ms < OPEN_BAR_MS,
            ['' if last['reused'] else 'no index file was kept: built anew'])]


def run_weir(session, name, data, *options):
    return weir.bench(session, name, data, '--dtype', 'f32', '-t',
                      session.cores, *options).cases[0]


def contiguous_row(session):
    path = made(session, 'plain', session.pick(20000, 5000, 100))
    session.warm(path)
    case = run_weir(session, 'hdf5-plain', path, '-r', session.rounds(8, 3),
                    '--epochs', 4, '-b', 256)
    theirs = statistics.median(h5py(session, 'read', path,
                                    session.pick(10000, 2000, 20), 3))
    ratio = case.of('read_limit_per_s')
    return Row('HDF5, contiguous, random samples of 8 KB, warm',
               f'>= {READ_BAR:.2f} of pread threads', f'{ratio:.3f}',
               ratio >= READ_BAR,
               [f"{case.rate():,.0f} samples/s; pread "
                f"{case.median('read_limit_per_s'):,.0f}; h5py in one process "
                f'{theirs:,.0f}', case.doubt()])


def gzip_row(session):
    path = made(session, 'gzip', session.pick(20000, 5000, 100))
    session.warm(path)
    case = run_weir(session, 'hdf5-gzip', path, '-r', session.rounds(4, 2))
    once = run_weir(session, 'hdf5-gzip-small', path, '-r',
                    session.rounds(3, 2), '--memory', '16MiB')
    theirs = statistics.median(h5py(session, 'read', path,
                                    session.pick(3000, 1000, 20), 3))
    ratio = case.rate() / theirs
    return Row('HDF5, chunks of 16 by gzip, random samples of 8 KB, warm',
               f'>= {GZIP_BAR:.0f} times h5py in one process', f'{ratio:.2f}',
               ratio >= GZIP_BAR,
               [f'{case.rate():,.0f} samples/s on {session.cores} threads; '
                f'h5py {theirs:,.0f}; with 16 MB of memory, so that chunks are '
                f'unpacked again and again, {once.rate():,.0f} '
                f'({once.rate() / theirs:.2f} times)', case.doubt()])


def one_by_one(session, device, source, at):
    with mounted(session, device, source, at):
        return statistics.median(
            h5py(session, 'read', os.path.join(at, 'voxels.h5'),
                 session.pick(600, 200, 10), session.rounds(3, 1)))


def device_row(session, device, source, at):
    """A disk cannot seek ten times as fast, however deep the queue: there the
    order takes neighbours together. What shuffling reaches is in the note."""
    theirs = one_by_one(session, device, source, at)
    path = os.path.join(source, 'voxels.h5')
    session.drop(path)
    few = ['--holdout', session.pick(0.005, 0.02, 0.1), '--part', 'held-out']
    rates = {
        order: run_weir(session, f'hdf5-{device}-{order}',
                        f'emu:{device}:{path}', '-r', session.rounds(3, 2),
                        '--order', order, '-d', 128, '-b', 8,
                        *(few if order == 'shuffle' else [])).rate()
        for order in ('shuffle', 'block')}
    order = 'block' if device == 'hdd' else 'shuffle'
    ratio = rates[order] / theirs
    return Row(f'HDF5, samples of 4 KB in one file, cold, emulated {device}, '
               f'order {order}', f'>= {DEVICE_BAR:.0f} times h5py one by one',
               f'{ratio:.1f}', ratio >= DEVICE_BAR,
               [f"{rates['shuffle']:,.0f} samples/s shuffled, "
                f"{rates['block']:,.0f} in blocks; h5py through the mounted "
                f'device {theirs:,.1f}'])


def device_rows(session):
    big = made(session, 'voxels', session.pick(200000, 20000, 200))
    source, at = (tempfile.mkdtemp(dir=session.data) for _ in range(2))
    try:
        need_mount(session, source, at)
        os.link(big, os.path.join(source, 'voxels.h5'))
        return [device_row(session, device, source, at)
                for device in ('lustre', 'hdd')]
    finally:
        shutil.rmtree(source)
        os.rmdir(at)


def measure(session):
    helper = os.path.join(os.path.dirname(session.weir), 'weir-hdf5')
    if not os.access(helper, os.X_OK):
        raise Missing('weir was built without HDF5: install libhdf5-dev')
    os.environ['WEIR_HDF5_HELPER'] = helper
    return [*index_rows(session), contiguous_row(session), gzip_row(session),
            *device_rows(session)]
