# findings.py - what a finding of weir trace says is lost, against what mending the
# program gains.
# SPDX-License-Identifier: Apache-2.0
#
# Programs and their data: faulty.py, faults.py. Each round runs the faulty program
# and the mended one, bare, and the faulty one under weir trace.
import json
import os
import statistics
import tempfile

from lib.faults import Bench, CASES, lacks
from lib.report import Row
from lib.session import Failure, Missing

NEAR = 0.2 # of what mending gains
SMOKE = ('D08', 'D20')
NAMES = [name for name, case in CASES.items() if case.costs]


def rounds_of(session, runner, code):
    faulty, mended, said = [], [], []
    for _ in range(session.pick(3, 1, 1)):
        faulty.append(runner.bare(False))
        mended.append(runner.bare(True))
        said.append(runner.traced(False).get(code) or 0.0)
    return faulty, mended, said


def row_of(name, faulty, mended, said):
    gained = statistics.median(faulty) - statistics.median(mended)
    predicted = statistics.median(said)
    ratio = predicted / gained if gained > 0 else float('inf')
    return Row(f'finding {name}: seconds said / gained',
               f'{1 - NEAR:.1f} to {1 + NEAR:.1f}', f'{ratio:.2f}',
               abs(ratio - 1) <= NEAR,
               [f'{predicted:.2f} s said ({min(said):.2f} to {max(said):.2f}), '
                f'{gained:.2f} s gained: from {statistics.median(faulty):.2f} '
                f'to {statistics.median(mended):.2f} s '
                f'({min(faulty):.2f} to {max(faulty):.2f}, {min(mended):.2f} '
                f'to {max(mended):.2f})'])


def kept_rows(session):
    """Rows of earlier runs, so that it can be measured in parts."""
    path = session.record_path('trace-findings')
    if not os.path.exists(path):
        return {}
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def measure(session):
    rows = kept_rows(session)
    asked = session.findings or (SMOKE if session.smoke else NAMES)
    shm = '/dev/shm' if os.path.isdir('/dev/shm') else None
    with (tempfile.TemporaryDirectory(dir=session.data) as folder,
          tempfile.TemporaryDirectory(dir=shm) as memory):
        bench = Bench(session.weir, folder, memory,
                      compensate=not session.smoke)
        for name in asked:
            case = CASES[name]
            if lacks(name):
                session.say(f'{name}: left out: no {lacks(name)}')
                continue
            session.say(f'finding {name}')
            try:
                with bench.prepared(name,
                                    case.counts[session.smoke]) as runner:
                    row = row_of(name, *rounds_of(session, runner, case.code))
            except RuntimeError as e:
                if '/dev/fuse' in str(e):
                    raise Missing(str(e)) from e
                raise Failure(str(e)) from e
            rows[name] = vars(row)
            session.save('trace-findings', rows)
    return [Row(**rows[name]) for name in NAMES if name in rows]
