# programs.py - real programs under weir trace, against what strace counts.
# SPDX-License-Identifier: Apache-2.0
#
# usage: programs.py WEIR TRACESUM [NAME...]
#
# Of every data file of a case, the bytes read and written by system calls must
# be in the trace, to the byte. Where the trace says that libc's streams were used
# the kernel moves whole buffers and the program what it asked for: there up to a
# buffer for each open is allowed. What a program names or writes anew in each run
# is not compared. A program that is not installed is left out; exits with 77
# without strace, or if none is installed. Those of large packages (LARGE) run
# only when they are named, as `make check-full` does.
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
open("text", "w").writelines(f"{i * 7919 % 10007}\\n" for i in range(20_000))
open("page.html", "w").write("<p>" + "text " * 9000)
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
MEMMAP = '''
import numpy as np
m = np.memmap("m.bin", dtype="f4", mode="w+", shape=(300_000,)); m[:] = 1; m.flush()
np.arange(50_000).tofile("t.bin")
assert np.fromfile("t.bin", dtype="i8").sum() == sum(range(50_000))
assert np.memmap("m.bin", dtype="f4", mode="r").sum() == 300_000
open("big", "rb").read(100)
'''
TORCH = '''
import os, torch
from torch.utils.data import DataLoader, Dataset
class Files(Dataset):
    def __len__(self): return 50
    def __getitem__(self, i):
        with open(f"many/f{i}", "rb") as f: return torch.tensor(len(f.read()))
if __name__ == "__main__":
    for kind in ("fork", "spawn", "forkserver"):
        for _ in range(2):
            sizes = torch.cat(list(DataLoader(Files(), 8, shuffle=True,
                num_workers=2, multiprocessing_context=kind)))
            assert int(sizes.sum()) == sum(i * 100 + 1 for i in range(50))
    torch.save({"w": torch.ones(100_000)}, "m.pt"); torch.load("m.pt")
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
# The name that fscanf has in a program is of the C library it was compiled with.
SCAN = '''
#include <stdio.h>
int main(void)
{
    FILE *f = fopen("text", "r");
    long sum = 0;
    int x;
    if (!f)
        return 2;
    while (fscanf(f, "%d", &x) == 1)
        sum += x;
    return sum == 0;
}
'''
CASES = {
    'python': [PYTHON, '-c', 'd = open("big", "rb").read(); '
               'open("out", "wb").write(d); import shutil; '
               'shutil.copyfile("big", "copied")'],
    'numpy': [PYTHON, 'numpy_case.py'],
    'memmap': [PYTHON, 'memmap_case.py'],
    'h5py': [PYTHON, 'h5py_case.py'],
    'torch': [PYTHON, 'torch_case.py'],
    'workers': [PYTHON, 'workers.py'],
    'cp': ['cp', '-r', 'many', 'many2'],
    'tar': ['tar', 'cf', 'many.tar', 'many', 'big'],
    'dd': ['dd', 'if=big', 'of=dd.out', 'bs=64k', 'status=none', 'conv=fsync'],
    # Old files: of those written with the index, git reads some again.
    'git': ['sh', '-c', 'git init -q g && cd g && cp ../many/f* . && '
            'touch -d 2020-01-01 f* && git add . && '
            'git -c user.name=a -c user.email=b commit -qm x'],
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
    'fscanf': ['./scan'],
    'gzip': ['gzip', '-k', 'big'],
    'sort': ['sort', '-o', 'sorted', 'text'],
    'chromium': ['chromium', '--headless', '--no-sandbox', '--disable-gpu',
                 '--user-data-dir=profile', '--dump-dom', 'page.html'],
}
LARGE = ('torch', 'chromium')
# What differs from run to run: a browser's profile, a report with times.
VARIES = {'chromium': r'/profile/', 'fio-psync': r'/fio\.out$'}
# libaio's requests are not in what strace shows of read and write.
ASYNC = {'fio-libaio': ('big', 2 << 20)}


def prepare(folder):
    subprocess.run([PYTHON, '-c', PREPARE], cwd=folder, check=True)
    for name, text in (('numpy_case.py', NUMPY), ('h5py_case.py', H5PY),
                       ('memmap_case.py', MEMMAP), ('torch_case.py', TORCH),
                       ('workers.py', WORKERS), ('s.cc', STREAM),
                       ('scan.cc', SCAN),
                       ('hello.c', 'int f(void) { return 1; }\n')):
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            f.write(text)
    if shutil.which('g++'):
        for made, source in (('stream', 's.cc'), ('scan', 'scan.cc')):
            subprocess.run(['g++', '-O1', '-o', made, source], cwd=folder,
                           check=True)


def strace_counts(folder, command):
    """Path -> [bytes read, bytes written] below the folder."""
    log = os.path.join(folder, 'strace.log')
    subprocess.run(['strace', '-f', '-qq', '-y', '-s', '0', '-e', 'signal=none',
                    '-e', 'trace=' + ','.join(READS + WRITES) +
                    ',copy_file_range,sendfile', '-o', log, *command],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    text = subprocess.run([tracesum, trace], check=True, capture_output=True,
                          text=True, errors='surrogateescape').stdout
    os.remove(trace)
    found, streams = {}, set()
    for line in text.split('\n'):
        part = line.split('\t')
        if part[0] == 'stdio':
            streams.add(part[1])
        if part[0] == 'damage':
            raise AssertionError(line)
        if part[0] == 'file' and part[9].startswith(folder + '/'):
            found[part[9]] = [int(part[4]), int(part[6]), int(part[2])]
    for path, counts in found.items():
        counts.append(path in streams)
    return found


def is_temporary(path):
    """Names that differ from one run to the next."""
    return re.search(r'tmp_obj_|/cc\w{6}\.|\.lock$|/\.\w+\.\w{6}$|__pycache__',
                     path)


def is_compared(name, path):
    return not (is_temporary(path) or path.endswith(('strace.log', '.wtrace'))
                or re.search(VARIES.get(name, '$^'), path))


def compare(name, expected, got):
    """Files that differ by more than streams explain; prints the others."""
    bad, exact, streams, count = [], 0, 0, 0
    for path, (read, written) in sorted(expected.items()):
        if not is_compared(name, path):
            continue
        count += 1
        seen = got.get(path, [0, 0, 0, False])
        slack = BUFFER * max(seen[2], 1) if seen[3] else 0
        if [read, written] == seen[:2]:
            exact += 1
        elif max(abs(read - seen[0]), abs(written - seen[1])) <= slack:
            streams += 1
        else:
            bad.append(f'{name}: {path}: {read} read and {written} written by '
                       f'strace, {seen[0]} and {seen[1]} here')
    print(f'{name}: {exact} of {count} files are equal to the byte'
          + (f', {streams} within a buffer of a libc stream' if streams else '')
          + f'; {len(expected) - count} are named or written anew in each run',
          flush=True)
    return bad


def run_case(name, prepared, weir, tracesum):
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.realpath(top)
        counts = []
        for kind in ('strace', 'trace'):
            place = os.path.join(folder, 'w')
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(prepared, place)
            counts.append(strace_counts(place, CASES[name]) if kind == 'strace'
                          else trace_counts(weir, tracesum, place, CASES[name]))
        expected, got = counts
        if name in ASYNC:
            path, n = ASYNC[name]
            read = got.get(os.path.join(place, path), [0])[0]
            return [] if read == n else [f'{name}: {read} of {n} bytes']
        if name != 'find' and not expected:
            return [f'{name}: strace saw nothing']
        return compare(name, expected, got)


def is_there(name):
    command = CASES[name]
    module = {'numpy': 'numpy', 'memmap': 'numpy', 'h5py': 'h5py',
              'torch': 'torch'}.get(name)
    if module:
        return not subprocess.run([PYTHON, '-c', 'import ' + module],
                                  capture_output=True).returncode
    if name in ('ifstream', 'fscanf'):
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
    bad, ran = [], 0
    with tempfile.TemporaryDirectory() as prepared:
        prepare(prepared)
        for name in argv[3:] or [c for c in CASES if c not in LARGE]:
            if not is_there(name):
                print(f'{name}: not installed')
                continue
            ran += 1
            bad += run_case(name, prepared, weir, tracesum)
    print('\n'.join(bad))
    return 1 if bad else 0 if ran else 77


sys.exit(main(sys.argv))
