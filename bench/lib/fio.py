# fio.py - fio reads the files of a data set once, each as one range.
# SPDX-License-Identifier: Apache-2.0
#
# Files differ in size, so fio is given a log to replay (open, read, close per
# file) instead of a pattern. A direct read must be a multiple of the block:
# asynchronous engines take the last block as a short read; psync calls that
# an error, so there the last partial block is left out (1 to 2 % less).
import json
import os
import random
from dataclasses import dataclass

from lib.session import Failure

BLOCK = 4096


@dataclass(frozen=True)
class Setting:
    engine: str
    jobs: int
    depth: int
    direct: bool

    def __str__(self):
        return (f'fio {self.engine} {self.jobs} x {self.depth}'
                + (' direct' if self.direct else ''))


def settings(session):
    """What is tried; the best of it counts."""
    blocking = (1, 2, 4, 8, 16, 32)
    deep = ((1, 16), (1, 64), (2, 16), (2, 32), (2, 64), (4, 16), (4, 32))
    if session.quick:
        blocking, deep = session.pick(0, (2, 8), (2,)), ((2, 32),)
    found = [Setting('psync', jobs, 1, direct)
             for direct in (False, True) for jobs in blocking]
    found += [Setting(engine, jobs, depth, direct)
              for engine, direct in (('io_uring', False), ('io_uring', True),
                                     ('libaio', True))
              for jobs, depth in deep]
    return found


def files_below(folder):
    """(path, size) of all files, in a fixed random order."""
    found = [os.path.join(where, name)
             for where, _, names in os.walk(os.path.abspath(folder))
             for name in names]
    found.sort()
    random.Random(0).shuffle(found)
    return [(path, os.path.getsize(path)) for path in found]


def length(size, setting):
    if not setting.direct:
        return size
    if setting.engine == 'psync':
        return max(size // BLOCK, 1) * BLOCK
    return -(-size // BLOCK) * BLOCK


def write_log(path, files, setting):
    with open(path, 'w', encoding='utf-8') as f:
        f.write('fio version 2 iolog\n')
        f.writelines(f'{name} add\n' for name, _ in files)
        f.writelines(f'{name} open\n{name} read 0 {length(size, setting)}\n'
                     f'{name} close\n' for name, size in files)


def write_job(session, files, setting):
    """A job file with a section, and a log, for each job."""
    path = session.record_path('fio')[:-len('.json')]
    largest = max(length(size, setting) for _, size in files)
    with open(path + '.job', 'w', encoding='utf-8') as f:
        f.write(f'[global]\nioengine={setting.engine}\n'
                f'iodepth={setting.depth}\ndirect={int(setting.direct)}\n'
                f'bs={largest}\nthread\ninvalidate=0\nreplay_no_stall=1\n'
                'gtod_reduce=1\n')
        for j in range(setting.jobs):
            log = f'{path}.{j}.log'
            write_log(log, files[j::setting.jobs], setting)
            f.write(f'[job{j}]\nread_iolog={os.path.abspath(log)}\n')
    return path + '.job'


def remove_logs(session):
    for name in os.listdir(session.records):
        if name.startswith('fio.') and name.endswith(('.log', '.job')):
            os.remove(os.path.join(session.records, name))


def files_per_s(stdout, count, setting):
    """The slowest job decides; all files must have been read."""
    result = json.loads(stdout[stdout.index('{'):])
    reads = [job['read'] for job in result['jobs']]
    done = sum(r['total_ios'] for r in reads)
    if done != count or any(job['error'] for job in result['jobs']):
        raise Failure(f'{setting}: read {done} of {count} files')
    return count / (max(max(r['runtime'] for r in reads), 1) / 1000)


def run(session, folder, files, setting):
    """Files per second, cold."""
    job = write_job(session, files, setting)
    try:
        session.drop(folder)
        done = session.run(['fio', '--output-format=json', job])
    finally:
        remove_logs(session)
    return files_per_s(done.stdout, len(files), setting)
