#!/usr/bin/python3
# mount.py - weir mount as a file system: contents, names, load, every end.
# SPDX-License-Identifier: Apache-2.0
"""usage: mount.py WEIR

Mounts folders as `null` and as a profile file, works on them as programs do,
and compares with the source; then ends mounts in every way. Leaves nothing
mounted. Exit code 77: mounting is not possible here."""

import ctypes
import errno
import fcntl
import mmap
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

WEIR = os.path.abspath(sys.argv.pop(1))
PROFILE = """# slow enough that answers wait, fast enough for a test
name = test
read_latency = 300 us
write_latency = 200 us
meta_latency = 100 us
sync_latency = 500 us
read_bandwidth = 400 MB/s
write_bandwidth = 400 MB/s
channels = 4
write_cache = 4 MiB
"""
GRACE = 3 # seconds, for the users of a mount that is in use
PATIENCE = 300 # seconds, for a machine under load


def can_mount():
    try:
        os.close(os.open('/dev/fuse', os.O_RDWR))
    except OSError as e:
        return f'/dev/fuse: {e.strerror}'
    if os.geteuid() != 0 and not shutil.which('fusermount3'):
        return 'not root, and no fusermount3'
    with tempfile.TemporaryDirectory() as top:
        for name in 'ab':
            os.mkdir(os.path.join(top, name))
        done = subprocess.run([WEIR, 'mount', '--background', '--profile', 'null',
                               top + '/a', top + '/b'],
                              capture_output=True, text=True)
        if done.returncode == 0:
            subprocess.run([WEIR, 'mount', '-u', top + '/b'], check=True)
            return None
        return done.stderr.strip()


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError('waited in vain for ' + what)
        time.sleep(0.01)


class Mounted(unittest.TestCase):
    """Each test has a source `src`, mounted at `at` by `self.server`."""
    profile = 'null'
    options = ('--read-write',)

    def setUp(self):
        self.top = os.path.realpath(tempfile.mkdtemp(prefix='weir-mount-'))
        self.src, self.at = self.top + '/src', self.top + '/at'
        os.mkdir(self.src)
        os.mkdir(self.at)
        self.server = None
        self.addCleanup(self.clean_up) # also when mounting fails
        self.mount()

    def mount(self, hup=signal.SIG_DFL):
        """`hup`: what SIGHUP does where weir is started."""
        profile = self.profile
        if profile == 'file':
            profile = self.top + '/test.profile'
            with open(profile, 'w', encoding='utf-8') as f:
                f.write(PROFILE)
        with open(self.top + '/log', 'w', encoding='utf-8') as log:
            self.server = subprocess.Popen(
                [WEIR, 'mount', '--profile', profile, *self.options, self.src,
                 self.at], stdin=subprocess.DEVNULL, stderr=log,
                preexec_fn=lambda: signal.signal(signal.SIGHUP, hup))
        wait_for('the mount', lambda: 'mounted' in self.log()
                 or self.server.poll() is not None)
        self.assertIsNone(self.server.poll(), self.log())

    def log(self):
        with open(self.top + '/log', encoding='utf-8') as f:
            return f.read()

    def is_mounted(self, at=None):
        with open('/proc/self/mountinfo', encoding='utf-8') as f:
            return any(line.split()[4] == (at or self.at) for line in f)

    def end(self, number=signal.SIGTERM):
        self.server.send_signal(number)
        code = self.server.wait(PATIENCE)
        self.assertEqual(code, 0, self.log())
        self.assertFalse(self.is_mounted())

    def clean_up(self):
        try:
            if self.server and self.server.poll() is None:
                self.end()
        finally:
            if self.server and self.server.poll() is None:
                self.server.kill()
                self.server.wait()
            if self.is_mounted():
                subprocess.run([WEIR, 'mount', '-u', '--force', self.at])
            shutil.rmtree(self.top)

    def path(self, name):
        return os.path.join(self.at, name)

    def source(self, name):
        return os.path.join(self.src, name)

    def write(self, path, data):
        with open(path, 'wb') as f:
            f.write(data)

    def read(self, path):
        with open(path, 'rb') as f:
            return f.read()


class Contents(Mounted):
    def test_write_read_truncate(self):
        data = random.Random(1).randbytes(3_000_001)
        self.write(self.path('a'), data)
        self.assertEqual(self.read(self.source('a')), data)
        self.assertEqual(self.read(self.path('a')), data)
        os.truncate(self.path('a'), 1234)
        self.assertEqual(self.read(self.source('a')), data[:1234])
        os.truncate(self.path('a'), 5000)
        self.assertEqual(self.read(self.path('a')),
                         data[:1234] + bytes(5000 - 1234))

    def test_append_sync_allocate_holes(self):
        fd = os.open(self.path('a'), os.O_RDWR | os.O_CREAT | os.O_APPEND)
        for _ in range(10):
            os.write(fd, b'0123456789')
        os.fsync(fd)
        os.fdatasync(fd)
        self.assertEqual(self.read(self.source('a')), b'0123456789' * 10)
        os.posix_fallocate(fd, 0, 200000)
        self.assertEqual(os.stat(self.source('a')).st_size, 200000)
        os.close(fd)
        with open(self.path('b'), 'wb') as f:
            f.seek(1 << 20)
            f.write(b'x')
        fd = os.open(self.path('b'), os.O_RDONLY)
        self.assertEqual(os.lseek(fd, 0, os.SEEK_END), (1 << 20) + 1)
        self.assertLessEqual(os.lseek(fd, 0, os.SEEK_DATA), 1 << 20)
        os.close(fd)

    def test_append_to_what_has_grown_in_the_source(self):
        with open(self.path('a'), 'ab', buffering=0) as f:
            f.write(b'one ')
            with open(self.source('a'), 'ab') as other:
                other.write(b'another ')
            f.write(b'two')
        self.assertEqual(self.read(self.source('a')), b'one another two')
        self.assertEqual(self.read(self.path('a')), b'one another two')

    def test_append_no_more(self):
        with open(self.path('a'), 'ab', buffering=0) as f:
            f.write(b'0123456789')
            flags = fcntl.fcntl(f, fcntl.F_GETFL)
            fcntl.fcntl(f, fcntl.F_SETFL, flags & ~os.O_APPEND)
            os.pwrite(f.fileno(), b'xy', 2)
        self.assertEqual(self.read(self.source('a')), b'01xy456789')

    def test_far_offsets(self):
        for at in (1 << 32) - 3, (5 << 30) + 1:
            with open(self.path('a'), 'wb') as f:
                f.seek(at)
                f.write(b'across')
            with open(self.source('a'), 'rb') as f:
                f.seek(at)
                self.assertEqual(f.read(), b'across')
            with open(self.path('a'), 'rb') as f:
                f.seek(at)
                self.assertEqual(f.read(), b'across')
            self.assertEqual(os.stat(self.path('a')).st_size, at + 6)

    def test_open_flags(self):
        self.write(self.path('a'), b'long enough')
        self.write(self.path('a'), b'short')
        self.assertEqual(self.read(self.source('a')), b'short')
        with self.assertRaises(FileExistsError):
            open(self.path('a'), 'x')
        with self.assertRaises(FileNotFoundError):
            open(self.path('none'))
        fd = os.open(self.path('a'), os.O_WRONLY)
        with self.assertRaises(OSError):
            os.read(fd, 1)
        os.close(fd)

    def test_mapped(self):
        self.write(self.path('a'), bytes(100_000))
        with open(self.path('a'), 'r+b') as f, \
                mmap.mmap(f.fileno(), 0) as m:
            m[50_000:50_005] = b'hello'
            m.flush()
        self.assertEqual(self.read(self.source('a'))[50_000:50_005], b'hello')

    def test_random_writes_and_reads(self):
        rng = random.Random(2)
        want = bytearray(4 << 20)
        self.write(self.path('a'), want)
        fd = os.open(self.path('a'), os.O_RDWR)
        for _ in range(300):
            at = rng.randrange(len(want) - 70_000)
            n = rng.randrange(1, 70_000)
            if rng.random() < 0.5:
                want[at:at + n] = rng.randbytes(n)
                self.assertEqual(os.pwrite(fd, want[at:at + n], at), n)
            else:
                self.assertEqual(os.pread(fd, n, at), want[at:at + n])
            if rng.random() < 0.05:
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
        self.assertEqual(self.read(self.source('a')), want)
        self.assertEqual(self.read(self.path('a')), want)

    def test_direct(self):
        data = random.Random(3).randbytes(300_000)
        self.write(self.source('a'), data)
        fd = os.open(self.path('a'), os.O_RDWR | os.O_DIRECT)
        with mmap.mmap(-1, 1 << 20) as m:
            self.assertEqual(os.preadv(fd, [m], 0), len(data))
            self.assertEqual(m[:len(data)], data)
            m[:4096] = b'z' * 4096
            self.assertEqual(
                os.pwritev(fd, [memoryview(m)[:4096]], 8192), 4096)
        os.close(fd)
        self.assertEqual(self.read(self.source('a')),
                         data[:8192] + b'z' * 4096 + data[12288:])

    def test_changed_in_the_source(self):
        self.write(self.source('a'), b'old')
        self.assertEqual(self.read(self.path('a')), b'old')
        time.sleep(1.1) # how long the kernel trusts what it knows
        self.write(self.source('a'), b'newer')
        os.utime(self.source('a'))
        wait_for('the new contents',
                 lambda: self.read(self.path('a')) == b'newer')


class Names(Mounted):
    def test_rename_link_remove(self):
        self.write(self.path('a'), b'a')
        self.write(self.path('b'), b'b')
        os.mkdir(self.path('d'))
        os.rename(self.path('a'), self.path('d/c'))
        os.replace(self.path('b'), self.path('d/c'))
        self.assertEqual(self.read(self.source('d/c')), b'b')
        os.link(self.path('d/c'), self.path('hard'))
        self.assertEqual(os.stat(self.path('hard')).st_nlink, 2)
        self.assertEqual(os.stat(self.path('hard')).st_ino,
                         os.stat(self.path('d/c')).st_ino)
        os.symlink('d/c', self.path('soft'))
        self.assertEqual(os.readlink(self.path('soft')), 'd/c')
        self.assertEqual(self.read(self.path('soft')), b'b')
        with self.assertRaises(OSError) as e:
            os.rmdir(self.path('d'))
        self.assertEqual(e.exception.errno, errno.ENOTEMPTY)
        os.unlink(self.path('d/c'))
        os.rmdir(self.path('d'))
        self.assertEqual(sorted(os.listdir(self.src)), ['hard', 'soft'])
        self.assertEqual(sorted(os.listdir(self.at)), ['hard', 'soft'])

    def test_rename_flags(self):
        self.write(self.path('a'), b'a')
        self.write(self.path('b'), b'b')
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        names = [os.fsencode(self.path(n)) for n in 'ab']
        self.assertEqual(rename(-100, names[0], -100, names[1], 1), -1)
        self.assertEqual(ctypes.get_errno(), errno.EEXIST)
        self.assertEqual(rename(-100, names[0], -100, names[1], 2), 0)
        self.assertEqual(self.read(self.path('a')), b'b')

    def test_attributes(self):
        self.write(self.path('a'), b'a')
        os.chmod(self.path('a'), 0o640)
        os.utime(self.path('a'), ns=(10**18 + 1, 10**18 + 2))
        st = os.stat(self.source('a'))
        self.assertEqual(st.st_mode & 0o7777, 0o640)
        self.assertEqual((st.st_atime_ns, st.st_mtime_ns),
                         (10**18 + 1, 10**18 + 2))
        self.assertEqual(os.stat(self.path('a')).st_mtime_ns, 10**18 + 2)
        old = os.umask(0o027)
        try:
            os.close(os.open(self.path('m'), os.O_CREAT, 0o666))
            os.mkdir(self.path('md'), 0o777)
        finally:
            os.umask(old)
        self.assertEqual(os.stat(self.source('m')).st_mode & 0o777, 0o640)
        self.assertEqual(os.stat(self.source('md')).st_mode & 0o777, 0o750)
        space = os.statvfs(self.at)
        self.assertEqual(space.f_blocks, os.statvfs(self.src).f_blocks)

    def test_long_listing(self):
        names = {f'file-{i:05}-{"x" * (i % 50)}' for i in range(3000)}
        for name in names:
            self.write(self.source(name), b'')
        self.assertEqual(set(os.listdir(self.at)), names)
        with os.scandir(self.at) as it:
            self.assertEqual({e.name for e in it if e.is_file()}, names)
        seen = set() # removed while it is listed
        with os.scandir(self.at) as it:
            for e in it:
                self.assertNotIn(e.name, seen)
                seen.add(e.name)
                os.unlink(e.path)
        self.assertEqual(seen, names)
        self.assertEqual(os.listdir(self.at), [])

    def test_removed_while_open(self):
        with open(self.path('a'), 'w+b') as f:
            f.write(b'still here')
            f.flush()
            os.unlink(self.path('a'))
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            f.seek(0)
            self.assertEqual(f.read(), b'still here')
            os.ftruncate(f.fileno(), 5)
            self.assertEqual(os.fstat(f.fileno()).st_size, 5)

    def test_no_way_out(self):
        os.symlink('/etc', self.source('out'))
        self.assertTrue(os.path.islink(self.path('out')))
        self.assertEqual(os.stat(self.path('..')).st_ino,
                         os.stat(self.top).st_ino)
        hidden = [n for n in os.listdir(self.at) if 'probe' in n]
        self.assertEqual(hidden, [])

    def test_renamed_over_while_open(self):
        self.write(self.path('a'), b'old')
        self.write(self.path('b'), b'new')
        with open(self.path('a'), 'rb') as f:
            os.replace(self.path('b'), self.path('a'))
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            self.assertEqual(f.read(), b'old')
            self.assertEqual(os.fstat(f.fileno()).st_nlink, 0)
        self.assertEqual(self.read(self.path('a')), b'new')

    def test_sync_of_a_folder(self):
        os.mkdir(self.path('d'))
        fd = os.open(self.path('d'), os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)

    def test_locks(self):
        with open(self.path('a'), 'w') as a, open(self.path('a')) as b:
            fcntl.flock(a, fcntl.LOCK_EX)
            with self.assertRaises(BlockingIOError):
                fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Programs(Mounted):
    def test_sqlite(self):
        for mode in ('delete', 'wal'):
            db = sqlite3.connect(self.path(mode + '.db'))
            db.execute(f'pragma journal_mode={mode}')
            db.execute('create table t (n integer, s text)')
            for k in range(10):
                with db:
                    db.executemany('insert into t values (?, ?)',
                                   ((k * 100 + i, 'x' * i)
                                    for i in range(100)))
            self.assertEqual(db.execute('select sum(n), count(*) from t')
                             .fetchone(), (499500, 1000))
            self.assertEqual(db.execute('pragma integrity_check').fetchone(),
                             ('ok',))
            db.close()

    def test_copy_of_a_tree(self):
        rng = random.Random(4)
        made = self.top + '/tree'
        for d in range(5):
            os.makedirs(f'{made}/{d}/sub')
            for i in range(20):
                self.write(f'{made}/{d}/sub/{i}',
                           rng.randbytes(rng.randrange(200_000)))
            os.symlink(f'sub/{d}', f'{made}/{d}/link')
        subprocess.run(['cp', '-a', made, self.path('tree')], check=True)
        subprocess.run(['diff', '-r', '--no-dereference', made,
                        self.source('tree')], check=True)
        subprocess.run(['diff', '-r', '--no-dereference', made,
                        self.path('tree')], check=True)
        subprocess.run(['rm', '-r', self.path('tree')], check=True)

    def test_git(self):
        if not shutil.which('git'):
            self.skipTest('no git')
        env = {**os.environ, 'GIT_CONFIG_GLOBAL': '/dev/null',
               'GIT_CONFIG_SYSTEM': '/dev/null'}
        made = self.top + '/repo'
        for name in 'abc':
            os.makedirs(made, exist_ok=True)
            self.write(f'{made}/{name}', name.encode() * 10_000)

        def git(*args):
            subprocess.run(['git', '-c', 'user.name=t', '-c', 'user.email=t@t',
                            '-c', 'safe.directory=*', *args], check=True,
                           env=env, capture_output=True)
        git('-C', made, 'init', '-q')
        git('-C', made, 'add', '.')
        git('-C', made, 'commit', '-qm', 'x')
        git('clone', '-q', made, self.path('clone'))
        git('-C', self.path('clone'), 'fsck', '--strict')
        self.assertEqual(self.read(self.source('clone/c')), b'c' * 10_000)

    def test_many_readers_and_writers(self):
        rng = random.Random(5)
        files = [rng.randbytes(rng.randrange(1, 300_000)) for _ in range(64)]
        for i, data in enumerate(files):
            self.write(self.source(str(i)), data)
        failed = []

        def work(seed):
            r = random.Random(seed)
            for k in range(60):
                i = r.randrange(len(files))
                if self.read(self.path(str(i))) != files[i]:
                    failed.append(i)
                own = self.path(f'w{seed}-{k % 3}')
                self.write(own, files[i])
                if self.read(own) != files[i]:
                    failed.append(own)
        threads = [threading.Thread(target=work, args=(s,)) for s in range(16)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(failed, [])


class Ends(Mounted):
    """Every end is 0, and nothing stays mounted."""

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.end(number)
            self.mount()

    def test_nohup(self):
        """Who has SIGHUP ignored keeps the mount when the terminal goes."""
        self.end()
        self.mount(hup=signal.SIG_IGN)
        self.server.send_signal(signal.SIGHUP)
        self.write(self.path('a'), b'x' * 5000)
        with self.assertRaises(subprocess.TimeoutExpired):
            self.server.wait(1)
        self.assertTrue(self.is_mounted())

    def test_statistics(self):
        self.write(self.path('a'), b'x' * 5000)
        self.end()
        self.assertIn('1 writes (5.0 KB)', self.log())

    def test_from_outside(self):
        ways = [[WEIR, 'mount', '--unmount', self.at]]
        if shutil.which('fusermount3'):
            ways.append(['fusermount3', '-u', self.at])
        if os.geteuid() == 0:
            ways.append(['umount', self.at])
        for way in ways:
            subprocess.run(way, check=True)
            self.assertEqual(self.server.wait(PATIENCE), 0, way)
            self.assertFalse(self.is_mounted())
            self.mount()

    def test_busy(self):
        with open(self.path('a'), 'wb') as f:
            f.write(b'x')
            f.flush()
            done = subprocess.run([WEIR, 'mount', '-u', self.at],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn('is in use', done.stderr)
            self.assertTrue(self.is_mounted())
            began = time.monotonic()
            self.server.send_signal(signal.SIGTERM)
            wait_for('the unmount', lambda: not self.is_mounted())
            try:
                os.write(f.fileno(), b'y')
            except OSError:
                if time.monotonic() - began < GRACE:
                    raise
                self.skipTest('the machine was too slow for the grace')
        self.assertEqual(self.server.wait(PATIENCE), 0)
        self.assertEqual(self.read(self.source('a')), b'xy')
        self.assertIn('in use', self.log())

    def test_another_at_the_same_place(self):
        self.write(self.source('a'), b'a')
        with open(self.path('a'), 'rb'):
            subprocess.run([WEIR, 'mount', '-u', '--force', self.at],
                           check=True)
            first = self.server
            try:
                self.mount()
            finally:
                first.send_signal(signal.SIGTERM)
        self.assertEqual(first.wait(PATIENCE), 0)
        self.assertTrue(self.is_mounted())
        self.assertEqual(self.read(self.path('a')), b'a')

    def test_nothing_left_of_a_start_that_failed(self):
        other = self.top + '/other'
        os.mkdir(other)
        failed = 0
        for files in range(5, 16):
            done = subprocess.run(
                ['prlimit', f'--nofile={files}', WEIR, 'mount', '--background', '--profile',
                 'null', self.src, other], capture_output=True, text=True)
            left = self.is_mounted(other)
            if left:
                subprocess.run([WEIR, 'mount', '-u', other], check=True)
            self.assertEqual(left, done.returncode == 0, done.stderr)
            failed += not left
        self.assertGreater(failed, 0)

    def test_term_under_load(self):
        self.write(self.source('a'), bytes(8 << 20))
        stop = threading.Event()

        def read():
            while not stop.is_set():
                try:
                    fd = os.open(self.path('a'), os.O_RDONLY)
                except OSError:
                    continue
                try:
                    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
                    while os.read(fd, 1 << 16):
                        pass
                except OSError:
                    pass # the mount went away below it
                os.close(fd)
        threads = [threading.Thread(target=read) for _ in range(4)]
        for t in threads:
            t.start()
        try:
            time.sleep(0.2)
            self.server.send_signal(signal.SIGTERM)
            self.assertEqual(self.server.wait(PATIENCE), 0)
        finally:
            stop.set()
            for t in threads:
                t.join()
        self.assertFalse(self.is_mounted())

    def test_killed(self):
        self.server.kill()
        self.server.wait()
        self.assertTrue(self.is_mounted())
        with self.assertRaises(OSError) as e:
            os.listdir(self.at)
        self.assertEqual(e.exception.errno, errno.ENOTCONN)
        done = subprocess.run([WEIR, 'mount', '--profile', 'null', self.src, self.at],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn('--unmount', done.stderr)
        subprocess.run([WEIR, 'mount', '--unmount', self.at], check=True)
        self.assertFalse(self.is_mounted())

    def test_twice(self):
        done = subprocess.run([WEIR, 'mount', '--profile', 'null', self.src, self.at],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn('already', done.stderr)

    def folders_of_processes(self):
        found = set()
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                found.add(os.readlink(f'/proc/{pid}/cwd'))
            except OSError:
                pass # ended, or another user's
        return found

    def test_background(self):
        other = self.top + '/other'
        os.mkdir(other)
        made = self.top + '/started-here'
        os.mkdir(made)
        done = subprocess.run([WEIR, 'mount', '--background', '--read-write',
                               '--profile', 'null', self.src, other], capture_output=True, text=True,
                              cwd=made)
        self.assertEqual(done.returncode, 0, done.stderr)
        try:
            self.assertTrue(os.path.ismount(other))
            self.assertNotIn(made, self.folders_of_processes())
            self.write(other + '/x', b'1')
            self.assertEqual(self.read(self.source('x')), b'1')
        finally:
            subprocess.run([WEIR, 'mount', '-u', other], check=True)
        self.assertFalse(os.path.ismount(other))


class ReadOnly(Mounted):
    """Unless it is asked for, nothing can be changed."""
    options = ()

    def test_nothing_changes(self):
        self.write(self.source('a'), b'a')
        self.assertEqual(self.read(self.path('a')), b'a')
        for change in (lambda: self.write(self.path('a'), b'b'),
                       lambda: os.mkdir(self.path('d')),
                       lambda: os.unlink(self.path('a'))):
            with self.assertRaises(OSError) as e:
                change()
            self.assertEqual(e.exception.errno, errno.EROFS)
        self.assertEqual(self.read(self.source('a')), b'a')
        self.assertIn(', read-only', self.log())


def with_profile(case):
    """The same tests on a device whose answers wait."""
    return type(case.__name__ + 'OnADevice', (case,), {'profile': 'file'})


ContentsOnADevice = with_profile(Contents)
NamesOnADevice = with_profile(Names)
ProgramsOnADevice = with_profile(Programs)
EndsOnADevice = with_profile(Ends)

if __name__ == '__main__':
    reason = can_mount()
    if reason:
        print('cannot mount here: ' + reason, file=sys.stderr)
        sys.exit(77)
    unittest.main()
