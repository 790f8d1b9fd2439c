# npz.py - NPZ files like unet3d's: against plain reads, and numpy.load.
# SPDX-License-Identifier: Apache-2.0
#
# Volumes of u8, one per file, each of its own size, 22 to 140 MB at full scale.
import glob
import os
import statistics
import subprocess
import sys

from lib import weir
from lib.report import Row
from lib.session import Missing

READ_BAR, CPU_BAR, DEFLATED_BAR = 0.85, 0.25, 2.0


def volumes(session, to):
    """The files, made once."""
    samples = session.pick(24, 6, 3)
    shape = session.pick('88x960x960', '88x240x240', '22x24x24')
    path = os.path.join(session.data, f'{to}-{samples}-{shape}')
    if not os.path.isdir(path):
        session.say(f'generating {samples} volumes as {to}')
        session.run([session.weir, 'gen', 'tensors', path, '--to', to,
                     '--samples', str(samples), '--shape', shape, '--vary',
                     '73', '--samples-per-file', '1'])
    return path


def numpy_load(session, data, rounds):
    """[seconds], [processor seconds] of loading all files."""
    files = sorted(glob.glob(os.path.join(data, '*.npz')))
    script = os.path.join(os.path.dirname(__file__), 'numpy_load.py')
    if subprocess.run([sys.executable, '-c', 'import numpy'],
                      capture_output=True).returncode:
        raise Missing('no numpy: scripts/deps.sh bench installs it')
    out = session.run([sys.executable, '-B', script, str(session.cores),
                       str(rounds), *files], quiet=True).stdout
    pairs = [tuple(map(float, line.split())) for line in out.splitlines()]
    return [p[0] for p in pairs], [p[1] for p in pairs]


def run_weir(session, name, data):
    return weir.bench(session, name, data, '--dtype', 'u8', '--epochs', 4, '-t',
                      session.cores, '-r', session.rounds(6, 3), '-b', 1
                      ).cases[0]


def stored_rows(session):
    data = volumes(session, 'npz')
    session.warm(data)
    case = run_weir(session, 'npz-stored', data)
    wall, cpu = numpy_load(session, data, session.rounds(6, 2))
    count = len(glob.glob(os.path.join(data, '*')))
    theirs = statistics.median(cpu) / count * 1000
    ours = case.median('cpu_s_per_1000')
    part = ours / theirs
    ratio, filled = case.of('read_limit_per_s'), case.of('slot_limit_per_s')
    return [
        Row('NPZ of volumes, stored, warm',
            f'>= {READ_BAR:.2f} of pread threads', f'{ratio:.3f}',
            ratio >= READ_BAR,
            [f"{case.rate():,.1f} volumes/s, "
             f"{case.median('bytes_per_s') / 1e9:.2f} GB/s on {session.cores} "
             f"threads; pread {case.median('read_limit_per_s'):,.1f}, piece by "
             'piece into the same 8 MB, which the processor caches',
             case.doubt()]),
        Row('the same, against reads that fill memory',
            f'>= {READ_BAR:.2f} of pread threads', f'{filled:.3f}',
            filled >= READ_BAR,
            [f"pread {case.median('slot_limit_per_s'):,.1f} volumes/s into "
             'memory of the size of two batches']),
        Row('NPZ of volumes, stored: processor time',
            f'<= {CPU_BAR:.2f} of numpy.load', f'{part:.3f}', part <= CPU_BAR,
            [f'{ours:.1f} CPU s/1000 volumes, numpy.load {theirs:.1f}; '
             f'{case.rate() * statistics.median(wall) / count:.1f} times its '
             f'rate on {session.cores} processes'])]


def deflated_row(session):
    data = volumes(session, 'npz-deflated')
    session.warm(data)
    case = run_weir(session, 'npz-deflated', data)
    wall, _ = numpy_load(session, data, session.rounds(4, 2))
    theirs = len(glob.glob(os.path.join(data, '*'))) / statistics.median(wall)
    ratio = case.rate() / theirs
    return Row('NPZ of volumes, deflated, warm',
               f'>= {DEFLATED_BAR:.1f} times numpy.load', f'{ratio:.2f}',
               ratio >= DEFLATED_BAR,
               [f'{case.rate():,.2f} volumes/s on {session.cores} threads; '
                f'numpy.load {theirs:,.2f} on {session.cores} processes',
                case.doubt()])


def measure(session):
    return [*stored_rows(session), deflated_row(session)]
