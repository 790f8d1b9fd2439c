# healthy.py - programs with nothing wrong: no finding speaks of them.
# SPDX-License-Identifier: Apache-2.0
#
# usage: healthy.py WEIR [--record FOLDER | --recorded FOLDER] [NAME...]
#
# These programs take a fraction of a second from the page cache: when the machine
# is busy, a single call may take as long as all others. `make test` reports traces
# that were recorded on an idle machine (--record keeps them, --recorded reports
# them); `make check-full` runs the programs, alone.
# Exit code 77: none is installed.
import os
import re
import shutil
import subprocess
import sys
import tempfile

PYTHON = '/usr/bin/python3'
LOADER = '''
import sys, time
from torch.utils.data import DataLoader
class Files:
    def __len__(self): return 200
    def __getitem__(self, i):
        with open(f'{sys.argv[1]}/{i}', 'rb') as f: return len(f.read())
loader = DataLoader(Files(), batch_size=10, num_workers=1, shuffle=True,
                    prefetch_factor=4, persistent_workers=True)
for _ in range(2):
    for _ in loader: time.sleep(0.02)
'''
DATABASE = '''
import sqlite3, sys
c = sqlite3.connect(sys.argv[1] + '/../my.db')
c.execute('create table t (a int, b text)')
c.executemany('insert into t values (?, ?)', ((i, 'x' * 50) for i in range(9999)))
c.commit()
assert c.execute('select count(*) from t where a % 7 = 0').fetchone()[0]
'''
SAVES = '''
import os, sys, time
for k in range(3):
    time.sleep(0.4)
    path = f'{sys.argv[1]}/../state{k}'
    with open(path + '.tmp', 'wb') as f:
        f.write(bytes(1 << 20)); f.flush(); os.fsync(f.fileno())
    os.replace(path + '.tmp', path)
'''
GIT = ('git init -q {t}/repo && cp {d}/1* {t}/repo && cd {t}/repo && git add . && '
       'git status --short >/dev/null')
COMPILE = ('printf "#include <stdio.h>\\nint main(void){{return puts(\\"x\\");}}" '
           '>{t}/x.c && cc -O1 -o {t}/x {t}/x.c')
# Name: what it needs, its command; {d}: 200 small files and a big one, {t}: room.
PROGRAMS = {
    'cp': ('cp', 'cp -r {d} {t}/copy'),
    'tar': ('tar', 'tar cf {t}/all.tar -C {d} .'),
    'git': ('git', GIT),
    'compile': ('cc', COMPILE),
    'import': (PYTHON, PYTHON + ' -c "import torch"'),
    'loader': (PYTHON, PYTHON + ' {t}/loader.py {d}'),
    'dd': ('dd', 'dd if={d}/big of={t}/big bs=1M status=none'),
    'database': (PYTHON, PYTHON + ' {t}/database.py {d}'),
    'saves': (PYTHON, PYTHON + ' {t}/saves.py {d}'),
    'find': ('find', 'find {d} /usr/include -name "*.h" -size +100k >/dev/null'),
    'rsync': ('rsync', 'rsync -a {d}/ {t}/synced'),
    'grep': ('grep', 'grep -r absent {d}; true'),
    'sort': ('sort', 'sort -S 4M -T {t} {d}/big -o {t}/sorted'),
    'hash': ('sha256sum', 'sha256sum {d}/* >/dev/null'),
    'archive': ('gzip', 'gzip -c {d}/big >{t}/big.gz'),
}
NEEDS_TORCH = ('import', 'loader')


def is_there(name, needed):
    if not shutil.which(needed):
        return False
    return name not in NEEDS_TORCH or subprocess.run(
        [PYTHON, '-c', 'import torch'], capture_output=True,
        check=False).returncode == 0


def run(*args):
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f'{args}: {done.stdout}{done.stderr}'
    return done.stdout


def trace_of(weir, name, top, keep):
    room = os.path.join(top, name)
    trace = os.path.join(keep or top, name + '.wtrace')
    os.mkdir(room)
    for script, text in (('loader', LOADER), ('database', DATABASE),
                         ('saves', SAVES)):
        with open(os.path.join(room, script + '.py'), 'w',
                  encoding='utf-8') as f:
            f.write(text)
    run(weir, 'trace', '-q', '-o', trace, '--', 'sh', '-c',
        PROGRAMS[name][1].format(d=os.path.join(top, 'data'), t=room))
    return trace


def check(weir, name, trace):
    report = run(weir, 'report', trace)
    found = re.findall(r'^([DS]\d\d): (.*)', report, re.M)
    print(f'{name}: {found}', flush=True)
    if found:
        print(report)
    return [f'{name}: {code}  {text}' for code, text in found]


def prepare(data):
    os.mkdir(data)
    for i in range(200):
        with open(os.path.join(data, str(i)), 'wb') as f:
            f.write(os.urandom(20_000))
    with open(os.path.join(data, 'big'), 'wb') as f:
        f.write(os.urandom(1 << 20).hex().encode() * 8)


def main():
    weir, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    how = folder = None
    if names and names[0].startswith('--'):
        how, folder, *names = names
    wrong, ran = [], 0
    if how == '--recorded':
        for name in names or PROGRAMS:
            wrong += check(weir, name, os.path.join(folder, name + '.wtrace'))
        print('\n'.join(wrong))
        return 1 if wrong else 0
    with tempfile.TemporaryDirectory(prefix='weir-healthy-') as top:
        prepare(os.path.join(top, 'data'))
        for name in names or PROGRAMS:
            if not is_there(name, PROGRAMS[name][0]):
                print(f'{name}: not installed')
                continue
            ran += 1
            wrong += check(weir, name, trace_of(weir, name, top, folder))
    print('\n'.join(wrong))
    return 1 if wrong else 0 if ran else 77


sys.exit(main())
