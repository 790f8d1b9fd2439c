# robust.py - weir trace around programs that end badly or run short of things.
# SPDX-License-Identifier: Apache-2.0
#
# usage: robust.py WEIR TRACESUM FORKMT
#
# WEIR_TRACE_FORKS: how often forkmt forks (default: 2000).
# WEIR_TRACE_FILES: how many files one program makes (default: 100000).
# WEIR_TRACE_SANITIZED: weir has a sanitizer, and cannot be traced itself.
import os
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
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
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
        done, lines = self.run([PYTHON, '-c', script], '--budget', '256K')
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

    def nested(self):
        done, lines = self.run([self.weir, 'trace', '--', 'cat',
                                '/etc/passwd'])
        self.check('nested', done.returncode == 0 and
                   'already' in done.stderr, done.stderr)
        self.check('nested', self.read_of(lines, '/etc/passwd') > 0, lines)


def main(argv):
    with tempfile.TemporaryDirectory() as folder:
        t = Tests(*(os.path.abspath(a) for a in argv[1:4]),
                  os.path.realpath(folder))
        for test in (t.ends, t.interrupted, t.outputs, t.full_disk, t.budget,
                     t.many, t.nesting, t.page, t.hostile, t.files):
            test()
    print('\n'.join(t.bad))
    return 1 if t.bad else 0


sys.exit(main(sys.argv))
