# limit.py - plain loops to compare with (bench-limit).
# SPDX-License-Identifier: Apache-2.0
import os

BLOCK = 1 << 20


def call(session, *arguments):
    tool = os.path.join(os.path.dirname(session.weir), 'bench', 'bench-limit')
    return float(session.run([tool, *map(str, arguments)], quiet=True).stdout)


def pread(session, threads, files):
    """Bytes per second."""
    return call(session, 'pread', threads, BLOCK, *files)


def copy(session, threads, sample_bytes, samples, batch):
    """Samples per second."""
    return call(session, 'copy', threads, sample_bytes, samples, batch)
