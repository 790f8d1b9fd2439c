# links.py - data sets of many files that are links to few.
# SPDX-License-Identifier: Apache-2.0
#
# A run that drops what it reads does not decode it: the files have the names of
# pictures, and bytes that are none.
import os
import shutil
import tempfile
from contextlib import contextmanager

PER_FOLDER = 1000 # links to one file; file systems allow no more than 65,000


def fill_folder(path, count, content, sync):
    os.mkdir(path)
    first = os.path.join(path, f'{0:06}.jpg')
    with open(first, 'wb') as f:
        f.write(content)
        if sync:
            os.fsync(f.fileno())
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for k in range(1, count):
            os.link(first, f'{k:06}.jpg', dst_dir_fd=fd)
    finally:
        os.close(fd)


def fill(path, count, content, sync=False):
    """Folders of `count` files in all below path/train."""
    os.makedirs(os.path.join(path, 'train'))
    for k in range(0, count, PER_FOLDER):
        fill_folder(os.path.join(path, 'train', f'{k // PER_FOLDER:04}'),
                    min(PER_FOLDER, count - k), content, sync)


@contextmanager
def in_memory(size):
    """An empty folder in memory, where that is possible."""
    shm = '/dev/shm'
    room = os.path.isdir(shm) and os.access(shm, os.W_OK) and \
        shutil.disk_usage(shm).free > 3 * size
    path = tempfile.mkdtemp(prefix='weir-bench-', dir=shm if room else None)
    try:
        yield path
    finally:
        shutil.rmtree(path)
