# findings.py - each finding comes up for a program that has the fault, and does
# not for the same program mended.
# SPDX-License-Identifier: Apache-2.0
#
# usage: findings.py WEIR BENCH [--record FOLDER | --recorded FOLDER] [CASE...]
#        BENCH: the folder of benchmarks
#
# What is found depends on the time that calls take: `make test` reports traces of
# all cases that were recorded on an idle machine (--record keeps them, --recorded
# reports them); `make check-full` runs the programs, but for those whose fault is
# one only while other programs leave cores and disk to it, or that take long
# (TIMED). What mending gains is measured by bench/run.sh --only trace-findings.
# Exit code 77: mounting is not possible here, or no case can run.
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.abspath(sys.argv[2]))

from lib.faults import Bench, CASES, lacks  # noqa: E402

TIMED = ('D02-MANY', 'D03', 'D04', 'D17-STORAGE', 'D17-CPU', 'D18', 'S05')
QUICK = [name for name in CASES if name not in TIMED]


def can_mount(bench):
    source = os.path.join(bench.folder, 'try')
    os.mkdir(source)
    try:
        with bench.mounted('near', source, source + '-at'):
            return True
    except RuntimeError as e:
        print(e)
        return False


def traced(bench, name, keep):
    with bench.prepared(name, CASES[name].counts[1]) as runner:
        return [runner.traced(mended, keep) for mended in (False, True)]


def check(name, faulty, mended):
    case = CASES[name]
    wrong = []
    if case.code not in faulty:
        wrong.append(f'{name}: not found in the program that has the fault, '
                     f'but {sorted(faulty)}')
    if case.code in mended and name != 'D17-STORAGE': # it has no cure
        wrong.append(f'{name}: found in the mended program')
    print(f'{name:9} {faulty}  mended: {mended}', flush=True)
    return wrong


def main():
    wrong, ran, names = [], 0, sys.argv[3:]
    how = kept = None
    if names and names[0].startswith('--'):
        how, kept, *names = names
    with tempfile.TemporaryDirectory(prefix='weir-findings-') as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), folder, compensate=False)
        if how == '--recorded':
            for name in names or CASES:
                wrong += check(name, *(bench.recorded(kept, name, mended)
                                       for mended in (False, True)))
            print('\n'.join(wrong))
            return 1 if wrong else 0
        if not can_mount(bench):
            return 77
        for name in names or (CASES if how else QUICK):
            if lacks(name):
                print(f'{name}: no {lacks(name)}')
                continue
            ran += 1
            wrong += check(name, *traced(bench, name, kept))
    print('\n'.join(wrong))
    return 1 if wrong else 0 if ran else 77


try:
    sys.exit(main())
except subprocess.SubprocessError as e:
    sys.exit(str(e))
