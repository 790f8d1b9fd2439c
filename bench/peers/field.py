# field.py - where the peers run: their data sets, their processes, and weir's.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import shlex
import shutil
import subprocess
import time

import usage
from lib import weir
from lib.session import Failure, Session

HERE = os.path.dirname(os.path.abspath(__file__))
KEYS = ('samples_per_s', 'cpu_s_per_1000', 'first_batch_ms', 'gap_p50_ms',
        'gap_p99_ms')


class Field(Session):
    """A session of the benchmark that knows how to run peers."""

    def __init__(self, args):
        args.out = args.out or os.path.join(args.build, 'peers')
        args.data = args.data or os.path.join(args.build, 'bench', 'data')
        super().__init__(args)
        self.extra = shlex.split(args.weir_options)
        self.threads = ()

    def install(self, names):
        subprocess.run([os.path.join(HERE, '..', '..', 'scripts', 'peers.sh'),
                        self.out, *names], check=False)

    # --- data sets ---

    def sized(self, kind):
        tensors = kind in ('tensors', 'betonraw')
        n = self.pick(*(self.TENSORS if tensors else self.PICTURES))
        return os.path.join(self.data, f'{kind}-{n}'), n

    def data_of(self, kind, peer=None):
        """The path of a data set; peer can make it when it is missing."""
        if kind in ('pictures', 'tensors'):
            return self.pictures() if kind == 'pictures' else self.tensors()
        path, _ = self.sized(kind)
        if not os.path.exists(path):
            self.say(f'making {kind}')
            getattr(self, 'make_' + kind)(path, peer)
        return path

    def make_shards(self, path, peer):
        try:
            self.run([self.weir, 'convert', '-q', '--to', 'tfrecord',
                      '--order', 'shuffle', '--shard-size', '64MiB',
                      self.pictures(), path], quiet=True)
        except Failure as e:
            self.say(f'weir convert: {e}; TensorFlow writes the shards')
            self.run(self.command(peer, '--make', self.pictures(), '--data',
                                  path), quiet=True)

    def make_betonjpeg(self, path, peer):
        self.run(self.command(peer, '--make', self.pictures(), '--data', path),
                 quiet=True)

    def make_betonraw(self, path, peer):
        """The same tensors as weir's: written as .npy first."""
        source = path + '.npy'
        _, count = self.sized('betonraw')
        try:
            self.run([self.weir, 'gen', '-q', 'tensors', source, '--samples',
                      str(count), '--format', 'npy', '--force'])
            self.run(self.command(peer, '--make', source, '--data', path),
                     quiet=True)
        finally:
            shutil.rmtree(source, ignore_errors=True)

    # --- peers ---

    def command(self, peer, *options):
        found = [os.path.join(HERE, peer.program), *map(str, options)]
        if not peer.venv:
            return [self.python(peer), '-B', *found]
        libraries = os.path.abspath(os.path.join(self.out,
                                                 'lib-' + peer.venv))
        path = [f'LD_LIBRARY_PATH={libraries}'] \
            if os.path.isdir(libraries) else []
        return ['env', *path, self.python(peer), '-B', *found]

    def python(self, peer):
        if not peer.venv:
            return '/usr/bin/python3'
        return os.path.join(self.out, 'venv-' + peer.venv, 'bin', 'python')

    def version_of(self, peer):
        """Fails when it cannot run here."""
        command = self.command(peer, '--probe')
        if peer.venv and not os.access(self.python(peer), os.X_OK):
            raise Failure('not installed')
        try:
            return json.loads(self.run(command, quiet=True).stdout)['version']
        except Failure as e:
            # The last line of a traceback, before the command.
            raise Failure(str(e).splitlines()[-2]) from e

    def peer_command(self, peer, case, settings, *options):
        data = self.data_of(peer.data, peer)
        self.warm(data)
        chosen = [word for key, value in settings.items()
                  for word in ('--set', f'{key}={value}')]
        return self.command(peer, '--data', data, '--dtype', case.dtype,
                            '--batch', self.batch,
                            '--started', time.monotonic(), *chosen, *options)

    def run_peer(self, peer, case, settings, *options):
        done = self.run(self.peer_command(peer, case, settings, *options),
                        quiet=True)
        return json.loads(done.stdout)

    # --- weir ---

    def weir_data(self, name, peer):
        return self.data_of({'jpeg': 'pictures', 'tfrecord': 'shards',
                             'tensors': 'tensors'}[name], peer)

    def use_auto(self):
        """Its own choice of threads, where this weir has it."""
        try:
            self.run([self.weir, 'bench', self.pictures(), '-t', 'auto',
                      '--batches', '1', '-r', '2', '--no-limits', '-q'],
                     quiet=True)
            self.threads = ('-t', 'auto')
        except Failure:
            self.say('weir: no -t auto here, its default number of threads')

    def weir_options(self, case, layout, epochs):
        shape = ('--layout', layout) if case.dtype == 'f32' else ()
        return (*case.weir, *shape, *self.threads, '--no-limits', '--epochs',
                str(epochs), '-q', *self.extra)

    def run_weir(self, name, case, layout, peer):
        """A warm-up and a run that counts."""
        data = self.weir_data(name, peer)
        found = weir.bench(self, f'weir-{name}-{layout}', data,
                           *self.weir_options(case, layout, case.epochs),
                           '-r', 2).cases[0]
        if found.doubt():
            raise Failure(f'weir {name}: {found.doubt()}')
        return {k: found.runs[0][k] for k in KEYS}

    def weir_command(self, name, case, layout, peer):
        return [self.weir, 'bench', self.weir_data(name, peer),
                '-b', str(self.batch), *self.weir_options(case, layout, 1),
                '-r', '2']

    def weir_first_ever(self, name, case, layout, peer):
        """Milliseconds of a process that starts, opens the data set and
        delivers one batch. It delivers two, twice: the rest is taken off."""
        data = self.weir_data(name, peer)
        begin = time.monotonic()
        found = weir.bench(self, 'weir-start', data,
                           *self.weir_options(case, layout, 1), '-r', 2,
                           '--batches', 2, '--page-cache', 'asis').cases[0]
        took_ms = (time.monotonic() - begin) * 1000
        rest = found.runs[-1]
        return took_ms - rest['seconds'] * 1000 - rest['gap_p50_ms']

    # --- memory ---

    def watched(self, command):
        """The peak memory of a command, see usage.py."""
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE,
                                 start_new_session=True)
        watch = usage.Watch(child.pid)
        try:
            _, said = child.communicate()
        except BaseException:
            self.end(child)
            raise
        finally:
            peak = watch.stop()
        if child.returncode != 0 or not peak.get('pss_bytes'):
            raise Failure(f'memory of {command[0]}: {said.decode()[-500:]}')
        return peak
