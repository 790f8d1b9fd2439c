# robust.py - weir trace around programs that end badly or run short of things.
# SPDX-License-Identifier: Apache-2.0
#
# usage: robust.py WEIR TRACESUM FORKMT
#
# WEIR_TRACE_FORKS: how often forkmt forks (default: 2000).
# WEIR_TRACE_FILES: how many files one program makes (default: 100000).
# WEIR_TRACE_SANITIZED: weir has a sanitizer, and cannot be traced itself.
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile

PYTHON = '/usr/bin/python3'
ENDS = {
    'exit code': (['sh', '-c', 'exit 7'], 7),
    'kill -9': ([PYTHON, '-c', 'import os; open("/etc/passwd").read(); '
                 'os.kill(os.getpid(), 9)'], 137),
    'SIGSEGV': ([PYTHON, '-c', 'import os; open("/etc/passwd").read(); '
                 'os.kill(os.getpid(), 11)'], 139),
    '_exit': ([PYTHON, '-c', 'import os; open("/etc/passwd").read(); '
               'os._exit(5)'], 5),
    'abort': ([PYTHON, '-c', 'import os; open("/etc/passwd").read(); '
               'os.abort()'], 134),
    'exec': (['sh', '-c', 'exec cat /etc/passwd'], 0),
    'empty environment': (['env', '-i', '/bin/cat', '/etc/passwd'], 0),
    'all descriptors closed': ([PYTHON, '-c', 'import os\n'
                                'os.closerange(3, 1000000)\n'
                                'open("/etc/passwd").read()'], 0),
    'vfork': ([PYTHON, '-c', 'import subprocess\n'
               'subprocess.run(["cat", "/etc/passwd"], check=True)'], 0),
}


class Tests:
    def __init__(self, weir, tracesum, forkmt, folder):
        self.weir, self.tracesum, self.forkmt = weir, tracesum, forkmt
        self.folder, self.bad, self.count = folder, [], 0

    def path(self):
        self.count += 1
        return os.path.join(self.folder, f'{self.count}.wtrace')

    def lines(self, trace):
        return [line.split('\t') for line in subprocess.run(
            [self.tracesum, trace], check=True, capture_output=True,
            text=True, errors='replace').stdout.split('\n')]

    def run(self, command, *options, **more):
        """(process, lines of the trace)"""
        trace = self.path()
        done = subprocess.run(
            [self.weir, 'trace', '-o', trace, *options, '--', *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, timeout=120, cwd=self.folder,
            **more)
        return done, self.lines(trace) if os.path.exists(trace) else []

    def check(self, name, is_good, what):
        if not is_good:
            self.bad.append(f'{name}: {what}')

    def read_of(self, lines, path):
        return sum(int(p[4]) for p in lines if p[0] == 'file' and p[9] == path)

    def ends(self):
        size = os.path.getsize('/etc/passwd')
        for name, (command, code) in ENDS.items():
            done, lines = self.run(command)
            self.check(name, done.returncode == code,
                       f'exit code {done.returncode}: {done.stderr}')
            if name != 'exit code':
                read = self.read_of(lines, '/etc/passwd')
                self.check(name, read >= size, f'{read} of {size} bytes')

    def interrupted(self):
        """A signal to weir reaches the program; its exit code comes back."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            trace = self.path()
            p = subprocess.Popen(
                [self.weir, 'trace', '-q', '-o', trace, '--', PYTHON, '-c',
                 'import time; print("up", flush=True); '
                 'open("/etc/passwd").read(); time.sleep(60)'],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
            p.stdout.readline()
            p.send_signal(number)
            code = p.wait(30)
            p.stdout.close()
            self.check('signal', code in (128 + number, 130),
                       f'{number.name}: exit code {code}')
            self.check('signal', len(self.lines(trace)) > 5,
                       f'{number.name}: nothing in the trace')

    def outputs(self):
        """Where the trace cannot be written the program runs to its end."""
        done, _ = self.run(['sh', '-c', 'exec 2>&-; exit 3'], '-q')
        self.check('closed stderr', done.returncode == 3, done.returncode)
        trace = self.path()
        done = subprocess.run(
            ['sh', '-c', f'exec 2>&-; "{self.weir}" trace -o "{trace}" -- '
             'sh -c "cat /etc/passwd >/dev/null; exit 4"'], timeout=60)
        self.check('closed stderr', done.returncode == 4, done.returncode)
        self.check('closed stderr', not any(
            p[0] == 'damage' for p in self.lines(trace)), 'damaged')
        done, _ = self.run(['true'], '-o', '/proc/none.wtrace')
        self.check('no such folder', done.returncode == 1, done.returncode)
        done, _ = self.run(['no-such-program'])
        self.check('no program', done.returncode == 127, done.returncode)

    def full_disk(self):
        """A small file system for the trace; root only."""
        place = os.path.join(self.folder, 'small')
        os.mkdir(place)
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none',
                           place], capture_output=True).returncode:
            return
        try:
            trace = os.path.join(place, 'x.wtrace')
            script = ('import os\nfor i in range(20000):\n'
                      '    f = open(f"/etc/none{i * 7919 % 65537}" if i % 2 '
                      'else "/etc/passwd", "rb") if not i % 2 else None\n'
                      '    os.path.exists(f"/etc/none{i * 7919 % 65537}")\n'
                      'os._exit(6)')
            done = subprocess.run(
                [self.weir, 'trace', '-o', trace, '--', PYTHON, '-c', script],
                capture_output=True, text=True, timeout=60)
            self.check('full disk', done.returncode == 6,
                       f'exit code {done.returncode}')
            self.check('full disk', 'not complete' in done.stderr, done.stderr)
            self.lines(trace)
        finally:
            subprocess.run(['umount', place], check=True)

    def budget(self):
        """Over the budget counts stay exact, and the loss is stated."""
        script = ('import os\nfor i in range(20000):\n'
                  '    fd = os.open("data", os.O_RDONLY)\n'
                  '    os.read(fd, 100)\n    os.close(fd)\n')
        with open(os.path.join(self.folder, 'data'), 'wb') as f:
            f.write(b'z' * 1000)
        done, lines = self.run([PYTHON, '-c', script], '--budget', '256KiB')
        counted = next(p for p in lines if p[0] == 'counted')
        self.check('budget', int(counted[3]) >= 2000000 and
                   int(counted[2]) >= 20000, counted)
        self.check('budget', 'not kept' in done.stderr, done.stderr)

    def many(self):
        done, lines = self.run(['sh', '-c', 'i=0; while [ $i -lt 1000 ]; do '
                                '/bin/true; i=$((i + 1)); done'])
        n = sum(p[0] == 'process' for p in lines)
        self.check('1000 processes', done.returncode == 0 and n >= 1000,
                   f'{done.returncode}, {n} processes')
        times = os.environ.get('WEIR_TRACE_FORKS', '2000')
        done, lines = self.run([self.forkmt, '/etc/passwd', times])
        self.check('forkmt', done.returncode == 0, done.stderr)

    def nesting(self):
        if not os.environ.get('WEIR_TRACE_SANITIZED'):
            self.nested()
        env = dict(os.environ, WEIR_TRACE_DISABLE='1')
        done, lines = self.run(['sh', '-c', 'exit 9'], env=env)
        self.check('disabled', done.returncode == 9 and not lines, lines)
        done, lines = self.run(['cat', os.path.join(self.folder, 'data')],
                               '--anonymous')
        self.check('anonymous', not any('data' == os.path.basename(p[-1])
                                        for p in lines if p[0] == 'file'),
                   lines)

    def page(self):
        """A report of what a hostile name is part of."""
        name = os.path.join(self.folder, '<img src=x>\x1b[31m')
        trace, page = (os.path.join(self.folder, n) for n in
                       ('page.wtrace', 'page.html'))
        with open(name, 'wb') as f:
            f.write(b'z' * 100000)
        subprocess.run([self.weir, 'trace', '-o', trace, '--', 'cat', name],
                       check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        done = subprocess.run([self.weir, 'report', trace, '--as', 'csv'],
                              capture_output=True, check=False)
        self.check('report', done.returncode == 0 and
                   b'<img src=x>\\x1b[31m' in done.stdout and
                   b'\x1b' not in done.stdout, done)
        done = subprocess.run([self.weir, 'report', trace, '--html', page],
                              capture_output=True, text=True, check=False)
        if 'built without' in done.stderr:
            return
        with open(page, 'rb') as f:
            text = f.read()
        self.check('page', b'&lt;img src=x&gt;\\x1b[31m' in text and
                   b'<img' not in text and len(text) < 1 << 20, len(text))

    def hostile(self):
        """A name with escapes is harmless in every form that weir prints."""
        name = os.path.join(self.folder, 'x\x1b]0;mine\x07\x9b31m\r<b>,"y\n.jpg')
        trace = os.path.join(self.folder, 'hostile.wtrace')
        with open(name, 'wb') as f:
            f.write(b'z' * 300000)
        # Small reads, again and again, and no prefetch: findings with examples.
        script = ('import os, sys, time\nfor _ in range(3):\n'
                  '    fd = os.open(sys.argv[1], os.O_RDONLY)\n'
                  '    while os.read(fd, 100): pass\n'
                  '    os.close(fd)\n    time.sleep(0.05)\n')
        subprocess.run([self.weir, 'trace', '-o', trace, '--', PYTHON, '-c',
                        script, name], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        report = [self.weir, 'report', trace]
        for command in (report, [*report, '--as', 'csv'],
                        [*report, '--as', 'json'], [*report, '--as', 'chrome'],
                        [*report, '--as', 'darshan'],
                        [self.weir, 'trace', '--to-workload', trace],
                        [self.weir, 'probe', '--replay', trace,
                         'emu:hdd:' + self.folder],
                        [self.weir, 'probe', '--replay', trace, '--json',
                         self.folder]):
            done = subprocess.run(command, capture_output=True, timeout=60)
            text = done.stdout + done.stderr
            self.check('hostile name', done.returncode == 0,
                       f'{command}: {text[-300:]}')
            # C2 9B is the other way to begin an escape, in UTF-8.
            for bad in (b'\x1b', b'\x07', b'\xc2\x9b', b'\r'):
                self.check('hostile name', bad not in text,
                           f'{command}: {bad} is printed')
        os.remove(name)
        done = subprocess.run([self.weir, 'probe', '--replay', trace],
                              capture_output=True, timeout=60)
        self.check('hostile name', b'\x1b' not in done.stderr, done.stderr)

    def files(self):
        """Many files: each is in the trace, and the report is quick."""
        many = int(os.environ.get('WEIR_TRACE_FILES', '100000'))
        script = (f'import os\nfor i in range({many}):\n'
                  '    os.close(os.open(f"many/{i}", '
                  'os.O_RDWR | os.O_CREAT))\n')
        os.mkdir(os.path.join(self.folder, 'many'))
        done, lines = self.run([PYTHON, '-c', script])
        n = sum(p[0] == 'file' and '/many/' in p[9] for p in lines)
        self.check('many files', done.returncode == 0 and n == many,
                   f'{done.returncode}, {n} of {many} files')
        trace = os.path.join(self.folder, f'{self.count}.wtrace')
        done = subprocess.run([self.weir, 'report', trace],
                              capture_output=True, timeout=60)
        self.check('many files', done.returncode == 0, done.stderr)

    def start_orphan(self, name, looks=0):
        """(weir, the program, its folder of memory): weir is killed, and the
        program has read a file since, and looked for others."""
        script = ('import os, sys\nprint(os.getpid(), os.environ["WEIR_TRACE"], '
                  'flush=True)\nsys.stdin.readline()\n'
                  'open(sys.argv[1], "rb").read()\n'
                  'for i in range(int(sys.argv[2])):\n'
                  '    os.path.exists(f"/etc/none{i * 7919 % 65537}")\n'
                  'print("read", flush=True)\n'
                  'sys.stdin.readline()\n')
        with open(name, 'wb') as f:
            f.write(bytes(50000))
        p = subprocess.Popen([self.weir, 'trace', '-q', '-o', self.path(), '--',
                              PYTHON, '-c', script, name, str(looks)],
                             text=True,
                             cwd=self.folder, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, bufsize=1)
        pid, folder = p.stdout.readline().split()
        p.kill()
        p.wait()
        p.stdin.write('read\n')
        p.stdout.readline()
        return p, int(pid), folder

    def end_orphan(self, p, pid):
        fd = os.pidfd_open(pid)
        p.stdin.close()
        select.select([fd], [], [], 60) # it is not our child
        os.close(fd)
        p.stdout.close()

    def orphan(self):
        """What a killed weir left is saved by the next one, when its program
        has ended."""
        name = os.path.join(self.folder, 'orphan.dat')
        p, pid, memory = self.start_orphan(name)
        saved = os.path.join(self.folder, f'recovered-{p.pid}.wtrace')
        done, _ = self.run(['true'])
        self.check('orphan', os.path.exists(memory) and
                   not os.path.exists(saved), 'taken from a living program')
        self.end_orphan(p, pid)
        done, _ = self.run(['true'])
        self.check('orphan', os.path.exists(saved) and
                   f'recovered-{p.pid}.wtrace' in done.stderr, done.stderr)
        self.check('orphan', not os.path.exists(memory), f'{memory} is there')
        if os.path.exists(saved):
            read = self.read_of(self.lines(saved), name)
            self.check('orphan', read == 50000, f'{read} bytes in {saved}')
            done = subprocess.run([self.weir, 'report', saved],
                                  capture_output=True, text=True)
            self.check('orphan', done.returncode == 0, done.stderr)
        self.named_orphan(name)
        if os.geteuid() == 0:
            self.crowded_orphan(name)
            self.foreign_orphan(name)

    def named_orphan(self, name):
        """The names that it would have are taken: by a trace, by a link."""
        p, pid, memory = self.start_orphan(name)
        self.end_orphan(p, pid)
        first, second, third = (os.path.join(
            self.folder, f'recovered-{p.pid}{k}.wtrace') for k in ('', '-2', '-3'))
        with open(first, 'wb') as f:
            f.write(b'old')
        os.symlink('nowhere', second)
        done, _ = self.run(['true'])
        self.check('names of orphans', os.path.exists(third) and
                   os.path.getsize(first) == 3 and not os.path.exists(memory),
                   done.stderr)
        if os.path.exists(third):
            read = self.read_of(self.lines(third), name)
            self.check('names of orphans', read == 50000, f'{read} bytes')

    def crowded_orphan(self, name):
        """On a full disk nothing of it is lost, and no part is left."""
        place = os.path.join(self.folder, 'crowded')
        os.mkdir(place)
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none',
                           place], capture_output=True).returncode:
            return
        p, pid, memory = self.start_orphan(name, looks=3000)
        self.end_orphan(p, pid)
        saved = os.path.join(place, f'recovered-{p.pid}.wtrace')

        def trace():
            return subprocess.run(
                [self.weir, 'trace', '-o', self.path(), '--', 'true'],
                capture_output=True, text=True, timeout=60, cwd=place)

        try:
            for free in (0, 4096):  # not a byte; its head alone
                with open(os.path.join(place, 'filler'), 'wb') as f:
                    f.write(bytes(65536 - free))
                done = trace()
                self.check('full disk, orphan', done.returncode == 0 and
                           'cannot be saved' in done.stderr and
                           os.path.exists(memory + '/control') and
                           not os.path.exists(saved),
                           f'{free} free: {done} {os.listdir(place)}')
                for left in os.listdir(place):
                    os.remove(os.path.join(place, left))
            done = trace()
            self.check('full disk, orphan', os.path.exists(saved) and
                       not os.path.exists(memory), done.stderr)
            if os.path.exists(saved):
                read = self.read_of(self.lines(saved), name)
                self.check('full disk, orphan', read == 50000, f'{read} bytes')
        finally:
            subprocess.run(['umount', place], check=True)
            shutil.rmtree(memory, ignore_errors=True)

    def foreign_orphan(self, name):
        p, pid, memory = self.start_orphan(name)
        self.end_orphan(p, pid)
        os.chown(memory, 65534, 65534)
        done, _ = self.run(['true'])
        self.check('orphan', os.path.exists(memory + '/control'),
                   f"another user's is taken: {done.stderr}")
        shutil.rmtree(memory)

    def nested(self):
        done, lines = self.run([self.weir, 'trace', '--', 'cat',
                                '/etc/passwd'])
        self.check('nested', done.returncode == 0 and
                   'already' in done.stderr, done.stderr)
        self.check('nested', self.read_of(lines, '/etc/passwd') > 0, lines)


def own_memory():
    """A /dev/shm of our own: what a killed weir leaves there, weir of another
    test would save."""
    if os.geteuid() == 0 and ctypes.CDLL(None).unshare(0x20000) == 0:
        subprocess.run(['sh', '-c', 'mount --make-rprivate / && mount -t tmpfs '
                        '-o mode=1777 none /dev/shm'], check=True)


def main(argv):
    own_memory()
    with tempfile.TemporaryDirectory() as folder:
        t = Tests(*(os.path.abspath(a) for a in argv[1:4]),
                  os.path.realpath(folder))
        for test in (t.ends, t.interrupted, t.outputs, t.full_disk, t.budget,
                     t.many, t.nesting, t.page, t.hostile, t.files,
                     t.orphan):
            test()
    print('\n'.join(t.bad))
    return 1 if t.bad else 0


sys.exit(main(sys.argv))
