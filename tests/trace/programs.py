# programs.py - real programs under weir trace, against what strace counts.
# SPDX-License-Identifier: Apache-2.0
#
# usage: programs.py WEIR TRACESUM [NAME...]
#
# Of every data file of a case, the bytes read and written by system calls must
# be in the trace. Where libc's streams read ahead into a buffer the kernel moves
# more than the program asked for: up to a buffer for each open is allowed. A
# program that is not installed is left out; exits with 77 without strace.
import os
import re
import shutil
import subprocess
import sys
import tempfile

PYTHON = '/usr/bin/python3'
BUFFER = 4096
CALL = re.compile(r'^(\d+)\s+(\w+)\((.*)\)\s+= (-?\d+)')
READS = ('read', 'pread64', 'readv', 'preadv', 'preadv2')
WRITES = ('write', 'pwrite64', 'writev', 'pwritev', 'pwritev2')

PREPARE = '''
import os, sqlite3, zipfile
os.makedirs("many/deep", exist_ok=True)
open("big", "wb").write(os.urandom(3_000_000))
for i in range(50):
    open(f"many/f{i}", "wb").write(b"y" * (i * 100 + 1))
with zipfile.ZipFile("z.zip", "w") as z:
    for i in range(50):
        z.write(f"many/f{i}")
'''
NUMPY = '''
import numpy as np
a = np.arange(200_000, dtype="f8"); np.save("a.npy", a)
assert np.load("a.npy").sum() == a.sum()
np.savez("a.npz", a=a); assert np.load("a.npz")["a"].shape == a.shape
m = np.load("a.npy", mmap_mode="r"); assert m[-1] == a[-1]
'''
H5PY = '''
import h5py, numpy as np
with h5py.File("a.h5", "w") as f:
    f.create_dataset("x", data=np.arange(100_000), chunks=(1000,))
with h5py.File("a.h5", "r") as f:
    assert f["x"][:].sum() == sum(range(100_000))
'''
WORKERS = '''
import multiprocessing as mp, os, subprocess
def f(i):
    return len(open(f"many/f{i}", "rb").read())
if __name__ == "__main__":
    for kind in ("fork", "spawn", "forkserver"):
        with mp.get_context(kind).Pool(2) as p:
            assert sum(p.map(f, range(50))) == sum(i * 100 + 1 for i in range(50))
    subprocess.run(["cat", "big"], stdout=subprocess.DEVNULL, check=True)
'''
STREAM = '''
#include <fstream>
#include <iostream>
int main() { std::ifstream in("big", std::ios::binary); std::ofstream out("copy++");
  out << in.rdbuf(); std::ifstream t("many/f49"); std::string s; t >> s;
  return s.size() != 4901; }
'''
CASES = {
    'python': [PYTHON, '-c', 'd = open("big", "rb").read(); '
               'open("out", "wb").write(d); import shutil; '
               'shutil.copyfile("big", "copied")'],
    'numpy': [PYTHON, 'numpy_case.py'],
    'h5py': [PYTHON, 'h5py_case.py'],
    'workers': [PYTHON, 'workers.py'],
    'cp': ['cp', '-r', 'many', 'many2'],
    'tar': ['tar', 'cf', 'many.tar', 'many', 'big'],
    'dd': ['dd', 'if=big', 'of=dd.out', 'bs=64k', 'status=none', 'conv=fsync'],
    'git': ['sh', '-c', 'git init -q g && cd g && cp ../many/f* . && git add . '
            '&& git -c user.name=a -c user.email=b commit -qm x'],
    'gcc': ['gcc', '-c', 'hello.c', '-o', 'hello.o'],
    'sqlite3': ['sqlite3', 'a.db', 'create table t(x); insert into t values'
                '(randomblob(100000)); select length(x) from t;'],
    'fio-psync': ['fio', '--name=a', '--filename=big', '--rw=randread',
                  '--bs=4k', '--size=2M', '--ioengine=psync',
                  '--output=fio.out', '--thread'],
    'fio-libaio': ['fio', '--name=a', '--filename=big', '--rw=randread',
                   '--bs=4k', '--size=2M', '--ioengine=libaio', '--iodepth=8',
                   '--output=fio.out', '--thread'],
    'find': ['find', 'many', '-type', 'f', '-size', '+1k'],
    'unzip': ['unzip', '-qo', 'z.zip', '-d', 'unz'],
    'rsync': ['rsync', '-a', 'many/', 'synced'],
    'ifstream': ['./stream'],
}
# libaio's requests are not in what strace shows of read and write.
ASYNC = {'fio-libaio': ('big', 2 << 20)}


def prepare(folder):
    subprocess.run([PYTHON, '-c', PREPARE], cwd=folder, check=True)
    for name, text in (('numpy_case.py', NUMPY), ('h5py_case.py', H5PY),
                       ('workers.py', WORKERS), ('s.cc', STREAM),
                       ('hello.c', 'int f(void) { return 1; }\n')):
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            f.write(text)
    if shutil.which('g++'):
        subprocess.run(['g++', '-O1', '-o', 'stream', 's.cc'], cwd=folder,
                       check=True)


def strace_counts(folder, command):
    """Path -> [bytes read, bytes written] below the folder."""
    log = os.path.join(folder, 'strace.log')
    subprocess.run(['strace', '-f', '-qq', '-y', '-s', '0', '-e', 'signal=none',
                    '-e', 'trace=' + ','.join(READS + WRITES) +
                    ',copy_file_range,sendfile', '-o', log, *command],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stdin=subprocess.DEVNULL)
    found, open_calls = {}, {}
    with open(log, encoding='utf-8', errors='surrogateescape') as f:
        for line in f:
            pid = line.split(None, 1)[0]
            if '<unfinished ...>' in line:
                open_calls[pid] = line.split('<unfinished')[0].rstrip()
                continue
            again = re.match(r'^\d+\s+<\.\.\. \w+ resumed>(.*)', line)
            if again:
                line = open_calls.pop(pid, '') + again[1]
            match = CALL.match(line)
            if not match or int(match[4]) <= 0:
                continue
            paths = re.findall(r'\d+<(/[^>]*)>', match[3])
            count_call(found, match[2], paths, int(match[4]), folder)
    return found


def count_call(found, call, paths, n, folder):
    def add(path, k):
        if path.startswith(folder + '/'):
            found.setdefault(path, [0, 0])[k] += n
    if call in READS and paths:
        add(paths[0], 0)
    elif call in WRITES and paths:
        add(paths[0], 1)
    elif len(paths) == 2: # sendfile has its output first
        source = 1 if call == 'sendfile' else 0
        add(paths[source], 0)
        add(paths[1 - source], 1)


def trace_counts(weir, tracesum, folder, command):
    """The same of a trace, and opens; the run must end well."""
    trace = os.path.join(folder, 'run.wtrace')
    subprocess.run([weir, 'trace', '-q', '-o', trace, '--', *command],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stdin=subprocess.DEVNULL)
    text = subprocess.run([tracesum, trace], check=True, capture_output=True,
                          text=True, errors='surrogateescape').stdout
    os.remove(trace)
    found = {}
    for line in text.split('\n'):
        part = line.split('\t')
        if part[0] == 'damage':
            raise AssertionError(line)
        if part[0] == 'file' and part[9].startswith(folder + '/'):
            found[part[9]] = [int(part[4]), int(part[6]), int(part[2])]
    return found


def is_temporary(path):
    """Names that differ from one run to the next."""
    return re.search(r'tmp_obj_|/cc\w{6}\.|\.lock$|/\.\w+\.\w{6}$|__pycache__',
                     path)


def compare(name, expected, got):
    bad = []
    for path, (read, written) in sorted(expected.items()):
        if is_temporary(path) or path.endswith(('strace.log', '.wtrace')):
            continue
        seen = got.get(path, [0, 0, 0])
        slack = BUFFER * max(seen[2], 1)
        for what, a, b in (('read', read, seen[0]), ('written', written,
                                                      seen[1])):
            if a != b and abs(a - b) > slack:
                bad.append(f'{name}: {path}: {what} {a} by strace, {b} here')
    return bad


def run_case(name, weir, tracesum):
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.realpath(top)
        counts = []
        for kind in ('strace', 'trace'):
            place = os.path.join(folder, 'w')
            shutil.rmtree(place, ignore_errors=True)
            os.mkdir(place)
            prepare(place)
            counts.append(strace_counts(place, CASES[name]) if kind == 'strace'
                          else trace_counts(weir, tracesum, place, CASES[name]))
        expected, got = counts
        if name in ASYNC:
            path, n = ASYNC[name]
            read = got.get(os.path.join(place, path), [0])[0]
            return [] if read == n else [f'{name}: {read} of {n} bytes']
        if name != 'find' and not expected:
            return [f'{name}: strace saw nothing']
        exact = sum(1 for p, e in expected.items() if got.get(p, [])[:2] == e)
        print(f'{name}: {exact} of {len(expected)} files are equal to the byte')
        return compare(name, expected, got)


def is_there(name):
    command = CASES[name]
    if name in ('numpy', 'h5py'):
        return not subprocess.run([PYTHON, '-c', 'import ' + name],
                                  capture_output=True).returncode
    if name == 'ifstream':
        return shutil.which('g++') is not None
    if name == 'git':
        return shutil.which('git') is not None
    return shutil.which(command[0]) is not None


def main(argv):
    weir, tracesum = (os.path.abspath(a) for a in argv[1:3])
    os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
    if not shutil.which('strace'):
        print('programs.py: there is no strace', file=sys.stderr)
        return 77
    bad = []
    for name in argv[3:] or CASES:
        if not is_there(name):
            print(f'{name}: not installed')
            continue
        bad += run_case(name, weir, tracesum)
    print('\n'.join(bad))
    return 1 if bad else 0


sys.exit(main(sys.argv))
