# healthy.py - programs with nothing wrong: no finding speaks of them.
# SPDX-License-Identifier: Apache-2.0
#
# usage: healthy.py WEIR [NAME...]
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


def is_there(name, needed):
    if not shutil.which(needed):
        return False
    return name not in ('import', 'loader') or subprocess.run(
        [PYTHON, '-c', 'import torch'], capture_output=True,
        check=False).returncode == 0


def check(weir, name, data, top):
    needed, command = PROGRAMS[name]
    if not is_there(name, needed):
        print(f'{name}: not installed')
        return []
    room = os.path.join(top, name)
    trace = os.path.join(top, name + '.wtrace')
    os.mkdir(room)
    for script, text in (('loader', LOADER), ('database', DATABASE),
                         ('saves', SAVES)):
        with open(os.path.join(room, script + '.py'), 'w',
                  encoding='utf-8') as f:
            f.write(text)
    for args in ([weir, 'trace', '-q', '-o', trace, '--', 'sh', '-c',
                  command.format(d=data, t=room)], [weir, 'report', trace]):
        done = subprocess.run(args, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f'{args}: {done.stdout}{done.stderr}'
    found = re.findall(r'^[DS]\d\d  .*', done.stdout, re.M)
    print(f'{name}: {found}', flush=True)
    if found:
        print(done.stdout)
    return [f'{name}: {f}' for f in found]


def main():
    weir = os.path.abspath(sys.argv[1])
    wrong = []
    with tempfile.TemporaryDirectory(prefix='weir-healthy-') as top:
        data = os.path.join(top, 'data')
        os.mkdir(data)
        for i in range(200):
            with open(os.path.join(data, str(i)), 'wb') as f:
                f.write(os.urandom(20_000))
        with open(os.path.join(data, 'big'), 'wb') as f:
            f.write(os.urandom(1 << 20).hex().encode() * 8)
        for name in sys.argv[2:] or PROGRAMS:
            wrong += check(weir, name, data, top)
    print('\n'.join(wrong))
    return 1 if wrong else 0


sys.exit(main())
