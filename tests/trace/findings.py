# findings.py - each finding comes up for a program that has the fault, and does
# not for the same program mended.
# SPDX-License-Identifier: Apache-2.0
#
# usage: findings.py WEIR BENCH [CASE...]       BENCH: the folder of benchmarks
#
# Exit code 77: mounting is not possible here. Nothing is timed: what mending gains
# is measured by bench/run.sh --only trace-findings. There alone are those whose
# fault is one only while other programs leave cores and disk to it (TIMED), or
# that take long; tests/unit/trace has made-up traces of them.
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.abspath(sys.argv[2]))

from lib.faults import Bench, CASES, lacks  # noqa: E402

TIMED = ('D02-MANY', 'D03', 'D04', 'D17-STORAGE', 'D17-CPU', 'D18', 'S05')


def can_mount(bench):
    source = os.path.join(bench.folder, 'try')
    os.mkdir(source)
    try:
        with bench.mounted('near', source, source + '-at'):
            return True
    except RuntimeError as e:
        print(e)
        return False


def check(bench, name):
    case = CASES[name]
    began = time.monotonic()
    wrong = []
    with bench.prepared(name, case.counts[1]) as runner:
        faulty = runner.traced(False)
        mended = runner.traced(True)
    if case.code not in faulty:
        wrong.append(f'{name}: not found in the program that has the fault, '
                     f'but {sorted(faulty)}')
    if case.code in mended and name != 'D17-STORAGE': # it has no cure
        wrong.append(f'{name}: found in the mended program')
    print(f'{name:9} {time.monotonic() - began:5.1f} s  {faulty}  mended: '
          f'{mended}', flush=True)
    return wrong


def main():
    wrong = []
    with tempfile.TemporaryDirectory(prefix='weir-findings-') as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), folder, compensate=False)
        if not can_mount(bench):
            return 77
        for name in sys.argv[3:] or [c for c in CASES if c not in TIMED]:
            if lacks(name):
                print(f'{name}: no {lacks(name)}')
                continue
            wrong += check(bench, name)
    print('\n'.join(wrong))
    return 1 if wrong else 0


try:
    sys.exit(main())
except subprocess.SubprocessError as e:
    sys.exit(str(e))
