#!/usr/bin/env python3
# badcalls.py - wrong arguments: a call ends under `weir trace` as it does alone.
# SPDX-License-Identifier: Apache-2.0
"""usage: badcalls.py WEIR BADCALLS LIBRARY"""
import ctypes
import os
import subprocess
import sys
import tempfile

# No arguments, or nothing to compare: what a thread does that runs data.
LEFT_OUT = {'fork', '_Fork', 'vfork', 'sync', 'tmpfile', 'weir_mark',
            'pthread_create'}


def wrapped(library):
    """The shortest name of each function of the library."""
    lines = subprocess.run(['nm', '-D', '--defined-only', library], check=True,
                           capture_output=True, text=True).stdout.split('\n')
    found = [line.split() for line in lines if line]
    found.sort(key=lambda symbol: -len(symbol[2]))
    libc = ctypes.CDLL(None)  # an older one does not have all of them
    return sorted(name for name in {symbol[0]: symbol[2] for symbol in found}.values()
                  if name == 'weir_mark' or hasattr(libc, name))


def start(command, folder):
    os.mkdir(folder)
    return subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
        env=os.environ | {'MALLOC_PERTURB_': '0'})


def main(argv):
    weir, program, library = (os.path.abspath(a) for a in argv[1:])
    names = [name for name in wrapped(library) if name not in LEFT_OUT]
    with tempfile.TemporaryDirectory() as folder:
        runs = [start([program, *names], folder + '/alone'),
                start([weir, 'trace', '-o', folder + '/t.wtrace', '--',
                       program, *names], folder + '/traced')]
        alone, traced = (run.communicate()[0].split('\n') for run in runs)
    bad = [f'{a}\n  traced: {b}' for a, b in zip(alone, traced) if a != b]
    if len(alone) != len(traced) or len(alone) < 48 * len(names):
        bad.append(f'{len(alone)} lines alone, {len(traced)} traced')
    print('\n'.join(bad[:50]))
    print(f'{len(names)} functions, {len(alone)} calls, {len(bad)} differ')
    return 1 if bad else 0


sys.exit(main(sys.argv))
