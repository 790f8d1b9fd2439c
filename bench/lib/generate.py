# generate.py - weir gen: bytes and files per second, and what they are like.
# SPDX-License-Identifier: Apache-2.0
#
# Written to memory (/dev/shm), so that no disk is measured; then, with all cores
# and a sync at the end, to the disk of the data, in turns with as many bytes of
# zeros by dd past the page cache. Pictures that are put together are compared
# with as many that are all drawn: their sizes, and the rate at which one core
# decodes them.
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from lib import weir
from lib.report import Row

NPZ_BAR = 1.5e9
JPEG_BAR = 5000
LIKE_BAR = 0.05
DISK_BAR = 0.9 # of dd
NPZ_FILES = 20, 8, 1
NPZ_BYTES = 146600628, 146600628, 100000
JPEG_FILES = 30000, 4000, 30
COMPARED = 4096, 512, 20 # pictures
DRAWN = 1024, 128, 10    # of them


def gen(session, folder, *command):
    """Makes a data set; what weir gen says of it."""
    out = session.run([session.weir, 'gen', command[0], folder, *command[1:],
                       '--json', '-q']).stdout
    return json.loads(out)


def rate(session, folder, key, command):
    """Median of bytes or files per second; the data set is removed."""
    values = []
    for _ in range(1 + session.rounds(5)): # the first one warms up
        done = gen(session, folder, *command)
        values.append(done[key] / done['seconds'])
        shutil.rmtree(folder)
    return statistics.median(values[1:])


def measure_npz(session, folder):
    speed = rate(session, os.path.join(folder, 'npz'), 'bytes', [
        'unet3d_h100', '--threads', '1',
        f'dataset.num_files_train={session.pick(*NPZ_FILES)}',
        f'dataset.record_length_bytes={session.pick(*NPZ_BYTES)}',
        'dataset.record_length_bytes_stdev=0'])
    return Row('NPZ files like unet3d\'s generated, one core, to memory',
               f'>= {NPZ_BAR / 1e9} GB/s', f'{speed / 1e9:.2f} GB/s',
               speed >= NPZ_BAR)


def dd_seconds(path, size):
    """The time to write zeros; direct unless the file system cannot."""
    for how in 'oflag=direct', 'conv=fdatasync':
        start = time.monotonic()
        done = subprocess.run(
            ['dd', 'if=/dev/zero', f'of={path}', 'bs=8M', how,
             f'count={max(1, size >> 23)}'], stderr=subprocess.DEVNULL,
            check=False)
        seconds = time.monotonic() - start
        if done.returncode == 0:
            return seconds * size / os.path.getsize(path)
    raise RuntimeError(f'dd cannot write {path}')


def measure_disk(session):
    files, size = session.pick(*NPZ_FILES), session.pick(*NPZ_BYTES)
    folder = tempfile.mkdtemp(prefix='generate-', dir=session.data)
    npz, zeros = (os.path.join(folder, name) for name in ('npz', 'zeros'))
    speeds, ratios = [], []
    try:
        for _ in range(1 + session.rounds(5)):
            os.sync()
            other = dd_seconds(zeros, files * size)
            os.remove(zeros)
            os.sync()
            start = time.monotonic()
            done = gen(session, npz, 'unet3d_h100',
                       f'dataset.num_files_train={files}',
                       f'dataset.record_length_bytes={size}',
                       'dataset.record_length_bytes_stdev=0')
            os.sync()
            seconds = time.monotonic() - start
            shutil.rmtree(npz)
            speeds.append(done['bytes'] / seconds)
            ratios.append(speeds[-1] / (files * size / other))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    ratio = statistics.median(ratios[1:])
    return Row('NPZ files like unet3d\'s generated to the disk, against dd',
               f'>= {DISK_BAR}', f'{ratio:.2f} of its speed', ratio >= DISK_BAR,
               [f'{statistics.median(speeds[1:]) / 1e9:.2f} GB/s'])


def measure_jpeg(session, folder):
    speed = rate(session, os.path.join(folder, 'jpeg'), 'made_files', [
        'resnet50_h100', '--threads', '2', 'dataset.format=jpeg',
        'dataset.num_samples_per_file=1', 'weir.content=photos',
        'dataset.num_files_eval=0',
        f'dataset.num_files_train={session.pick(*JPEG_FILES)}'])
    return Row('JPEG files like ImageNet\'s generated, two cores, to memory',
               f'>= {JPEG_BAR} files/s', f'{speed:.0f} files/s',
               speed >= JPEG_BAR, ['pictures that are drawn first included'])


def decode_ratio(session, old, new):
    """How much longer a core takes to decode a byte of the new ones."""
    ratios = []
    for k in range(1 + session.rounds(5)):
        costs = []
        for name, data in (('old', old), ('new', new)):
            record = weir.bench(session, f'generate-{name}-{k}', data,
                                '--threads', '1', '--page-cache', 'warm',
                                '--stages', 'decode', '--no-index-cache')
            costs.append(1 / record.cases[0].rate())
        ratios.append(costs[1] / costs[0])
    return statistics.median(ratios[1:])


def measure_alike(session, folder):
    count, drawn = session.pick(*COMPARED), session.pick(*DRAWN)
    old, new = (os.path.join(folder, name) for name in ('old', 'new'))
    common = ['imagenet', '-n', str(count), '-c', '10']
    was = gen(session, old, *common, '--drawn', str(count))['sample_bytes']
    now = gen(session, new, *common, '--drawn', str(drawn))['sample_bytes']
    sizes = {k: now[k] / was[k] for k in ('mean', 'p10', 'p50', 'p90')}
    cost = decode_ratio(session, old, new)
    worst = max(abs(v - 1) for v in sizes.values())
    return [
        Row('sizes of JPEGs put together, against drawn ones',
            f'within {LIKE_BAR:.0%}', f'{sizes["mean"]:.3f} on average',
            worst <= LIKE_BAR,
            [', '.join(f'{k} {v:.3f}' for k, v in sizes.items())]),
        Row('decoding them, against drawn ones', f'within {LIKE_BAR:.0%}',
            f'{cost:.3f} of the time', abs(cost - 1) <= LIKE_BAR),
    ]


def measure(session):
    memory = '/dev/shm' if os.path.isdir('/dev/shm') else session.data
    folder = tempfile.mkdtemp(prefix='weir-bench-', dir=memory)
    try:
        return [measure_npz(session, folder), measure_disk(session),
                measure_jpeg(session, folder), *measure_alike(session, folder)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
