# kernel.py - weir trace --kernel against programs that do known things.
# SPDX-License-Identifier: Apache-2.0
#
# usage: kernel.py WEIR TRACESUM DYNAMIC STATIC RING
#
# DYNAMIC, STATIC: rawcalls, linked in two ways ('' if it could not be);
# RING: ringreads ('' without liburing). Skipped where the kernel does not let us.
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

SIZE = 1 << 20


class Tests:
    def __init__(self, weir, tracesum, programs, folder):
        self.weir, self.tracesum = weir, tracesum
        self.dynamic, self.static, self.ring = programs
        self.folder, self.bad, self.count = folder, [], 0
        self.data = os.path.join(folder, 'data')
        with open(self.data, 'wb') as f:
            f.write(b'z' * SIZE)

    def path(self):
        self.count += 1
        return os.path.join(self.folder, f'{self.count}.wtrace')

    def run(self, command, *options, **more):
        trace = self.path()
        done = subprocess.run(
            [self.weir, 'trace', *options, '-o', trace, '--', *command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120, cwd=self.folder, **more)
        return done, self.lines(trace) if os.path.exists(trace) else []

    def lines(self, trace):
        return [line.split('\t') for line in subprocess.run(
            [self.tracesum, trace], check=True, capture_output=True,
            text=True, errors='replace').stdout.split('\n')]

    def check(self, name, is_good, what):
        if not is_good:
            self.bad.append(f'{name}: {what}')

    def file_of(self, lines, path):
        """[opens, reads, bytes read, writes, bytes written, stats, others]"""
        sums = [0] * 7
        for p in lines:
            if p[0] == 'file' and p[9] == path:
                sums = [a + int(b) for a, b in zip(sums, p[2:9])]
        return sums

    def ops(self, lines):
        return {p[1]: int(p[2]) for p in lines if p[0] == 'op'}

    def may_not(self):
        """A reason why this machine cannot run the tests."""
        done, _ = self.run(['true'], '--kernel')
        return done.stderr if done.returncode else None

    def raw(self, name, program):
        """200 reads of 4,096 bytes, then 1,000 bytes by stdio."""
        done, lines = self.run([program, 'data', '200', '4096'], '--kernel')
        self.check(name, done.returncode == 7,
                   f'exit code {done.returncode}: {done.stderr}')
        self.check(name, 'sum: 820200' in done.stdout, done.stdout)
        counts = self.file_of(lines, self.data)
        is_static = program == self.static
        stdio = 4096 if is_static else 1000
        self.check(name, counts[0] == 2, f'opens: {counts}')
        self.check(name, counts[1] in (201, 202), f'reads: {counts}')
        self.check(name, counts[2] == 819200 + stdio, f'bytes: {counts}')
        self.check(name, self.file_of(
            lines, os.path.join(self.folder, 'no-such-file'))[5] == 1,
            'a stat is missing')
        process = [p for p in lines if p[0] == 'process']
        self.check(name, len(process) == 1 and process[0][4] == str(7 << 8),
                   f'{process}')
        counted = next(int(line.split()[1]) for line in done.stdout.split('\n')
                       if line.startswith('rchar'))
        # the kernel also counts the heads of programs that it executes, and
        # what the loader and the library read
        self.check(name, 0 <= counted - 819200 - 4096 < 8192,
                   f'rchar {counted}')
        traced = sum(int(p[4]) for p in lines if p[0] == 'file')
        self.check(name, traced <= counted + 1024, f'{traced} of {counted}')
        self.check(name, 'unseen: 0.' in done.stderr, done.stderr)
        self.check(name, 'are lost' not in done.stderr, done.stderr)

    def without_bpf(self):
        """Counts are the same; names may be missing."""
        env = dict(os.environ, WEIR_TRACE_NO_BPF='1')
        done, lines = self.run([self.static, 'data', '200', '4096'],
                               '--kernel', env=env)
        ops = self.ops(lines)
        self.check('without BPF', done.returncode == 7 and
                   ops.get('read', 0) >= 202, f'{ops}: {done.stderr}')

    def rings(self):
        for more in ([], ['registered']):
            done, lines = self.run([self.ring, 'data', '100', '8192', *more],
                                   '--kernel')
            if done.returncode == 77:
                return
            self.check('io_uring', done.stdout == 'sum: 819200\n', done)
            counts = self.file_of(lines, self.data)
            self.check('io_uring', counts[1:3] == [100, 819200],
                       f'{more}: {counts} {done.stderr}')
            self.check('io_uring', self.ops(lines).get('aio-read') == 100,
                       self.ops(lines))
            self.check('io_uring', '100 requests, 100 of them on files' in
                       done.stderr, done.stderr)

    def no_double(self):
        """What the library has recorded is not recorded again."""
        for command in (['cat', 'data'], ['cp', 'data', 'copy'],
                        ['sh', '-c', 'cat data data >both; wc -c both']):
            _, plain = self.run(command)
            _, kernel = self.run(command, '--kernel')
            self.check('twice', self.file_of(plain, self.data) ==
                       self.file_of(kernel, self.data),
                       f'{command}: {self.file_of(plain, self.data)} '
                       f'{self.file_of(kernel, self.data)}')

    def tree(self):
        """A shell that is traced by the library starts static programs."""
        script = f'"{self.static}" data 10 100; cat data >/dev/null; ' \
                 f'cd /; "{self.static}" {self.data} 20 100'
        done, lines = self.run(['sh', '-c', script], '--kernel')
        counts = self.file_of(lines, self.data)
        self.check('tree', counts[2] >= SIZE + 3000 + 2 * 4096 and
                   counts[0] == 5, f'{counts} {done.stderr}')
        parents = [p[2] for p in lines if p[0] == 'process']
        self.check('tree', sorted(parents) == ['-1', '0', '0', '0'], parents)
        # Unseen is what the loader reads of libraries: 1 % with glibc 2.41.
        unseen = re.search(r'unseen: (\d+\.\d)%', done.stderr)
        self.check('tree', unseen and float(unseen[1]) < 2, done.stderr)

    def lost(self):
        """A reader that is stopped loses records, and says so."""
        trace = self.path()
        with subprocess.Popen(
                [self.weir, 'trace', '--kernel', '-o', trace, '--',
                 self.static, 'data', '600000', '1', 'wait'],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, cwd=self.folder) as p:
            time.sleep(0.3)
            p.send_signal(signal.SIGSTOP)
            p.stdin.write('go\n')
            p.stdin.flush()
            while 'sum:' not in p.stdout.readline():
                pass
            p.send_signal(signal.SIGCONT)
            _, err = p.communicate(timeout=60)
        self.check('lost', "of the kernel's records are lost" in err, err)
        done = subprocess.run([self.weir, 'report', trace], check=False,
                              capture_output=True, text=True)
        self.check('lost', 'records are lost' in
                   ' '.join(done.stdout.split()), done.stdout[:500])

    def refused(self):
        """Who may not is told why, and nothing is started."""
        place = os.path.join(self.folder, 'theirs')
        os.mkdir(place, 0o777)
        os.chmod(self.folder, 0o755)
        os.chmod(place, 0o777)

        def drop():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        try:
            done = subprocess.run(
                [self.weir, 'trace', '--kernel', '-o', place + '/x.wtrace',
                 '--', 'touch', place + '/started'], check=False,
                capture_output=True, text=True, preexec_fn=drop, timeout=60)
        except PermissionError:
            return  # weir lies where others may not look
        self.check('refused', done.returncode == 1 and
                   '--kernel: ' in done.stderr and 'root' in done.stderr,
                   f'{done.returncode}: {done.stderr}')
        self.check('refused', not os.listdir(place), os.listdir(place))


def main(argv):
    with tempfile.TemporaryDirectory() as folder:
        whole = [a and os.path.abspath(a) for a in argv[1:6]]
        t = Tests(*whole[:2], whole[2:], os.path.realpath(folder))
        reason = t.may_not()
        if reason:
            print(reason)
            return 77
        t.raw('raw', t.dynamic)
        if t.static:
            t.raw('static', t.static)
            t.without_bpf()
            t.tree()
            t.lost()
        if t.ring:
            t.rings()
        t.no_double()
        if os.getuid() == 0:
            t.refused()
    print('\n'.join(t.bad))
    return 1 if t.bad else 0


sys.exit(main(sys.argv))
