# workload.py - runs 'weir run', in one process or in ranks; reads its record.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import random
import shutil
import socket
import subprocess
import tempfile

from lib.ranks import ENVIRONMENT, LAUNCHERS
from lib.session import Failure

# Without MPI: the environment that torchrun sets.
PLAIN = 'plain'
MODULES = {'Open MPI': 'openmpi', 'MPICH': 'mpich'}
LONGEST_S = 300


def launchers(session):
    """How ranks can be started here, plain processes first."""
    folder = os.path.join(os.path.dirname(session.weir), 'src', 'comm')
    return [PLAIN, *(name for name, program in LAUNCHERS.items()
                     if shutil.which(program) and os.path.exists(os.path.join(
                         folder, f'weir-mpi-{MODULES[name]}.so')))]


def command(session, data, settings, options):
    """A run of the workload 'default' with other numbers: nothing but training
    in one epoch, and no test of the emulator before it."""
    keys = {'workflow.evaluation': 'false', 'train.epochs': 1,
            'reader.batch_size': 1, **settings}
    return [session.weir, 'run', 'default', *([data] if data else ['--no-io']),
            *(f'{k}={v}' for k, v in keys.items()), '--no-selftest',
            '--no-checkpoints', '--monitor', '0', '-q', *map(str, options)]


def free_port():
    """Below those that the kernel gives to connections, of other tests too."""
    while True:
        port = random.randrange(20000, 30000)
        with socket.socket() as s:
            try:
                s.bind(('127.0.0.1', port))
                return port
            except OSError:
                pass


def started(session, args, ranks, launcher):
    """The processes of one run."""
    env = {**os.environ, **ENVIRONMENT, 'WEIR_MODULES': os.path.join(
        os.path.dirname(session.weir), 'src', 'comm')}
    if ranks > 1 and launcher != PLAIN:
        args = [LAUNCHERS[launcher], '-n', str(ranks), *args]
    count = ranks if launcher == PLAIN else 1
    env |= {'WORLD_SIZE': str(ranks), 'LOCAL_WORLD_SIZE': str(ranks),
            'MASTER_ADDR': '127.0.0.1', 'MASTER_PORT': str(free_port()),
            } if count > 1 else {}
    for k in range(count):
        own = {'RANK': str(k), 'LOCAL_RANK': str(k)} if count > 1 else {}
        yield subprocess.Popen(
            args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
            env=env | own)


def run(session, data, settings, *options, ranks=1, launcher=PLAIN):
    """Runs 'weir run' and returns its record."""
    handle, path = tempfile.mkstemp('.json', dir=session.out)
    os.close(handle)
    args = command(session, data, settings, ('-o', path, *options))
    children = list(started(session, args, ranks, launcher))
    try:
        said = [c.communicate(timeout=LONGEST_S)[1] for c in children]
        if any(c.returncode for c in children):
            raise Failure(f"weir exited with "
                          f"{[c.returncode for c in children]}: "
                          f"{' '.join(said).strip()[-500:]}\n  "
                          + ' '.join(args))
        with open(path, encoding='utf-8') as f:
            record = json.load(f)
        session.host = record['host'] or session.host
        return record
    except subprocess.TimeoutExpired as e:
        raise Failure(f"weir did not end: {' '.join(args)}") from e
    finally:
        for child in children:
            if child.poll() is None:
                session.end(child)
        os.unlink(path)


def alone(args):
    """Runs a command that prints a record; returns it, and the largest
    resident memory of the process in bytes."""
    with tempfile.TemporaryFile('w+') as said, \
            subprocess.Popen(args, stdin=subprocess.DEVNULL, text=True,
                             stdout=subprocess.PIPE, stderr=said) as child:
        text = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            raise Failure(f'weir exited with {child.returncode}: '
                          f"{said.read().strip()[-500:]}\n  "
                          + ' '.join(args))
    return json.loads(text), usage.ru_maxrss * 1024
