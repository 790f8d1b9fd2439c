# trace_scale.py - big traces: ten million events, a million files.
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import time

from lib import trace
from lib.report import Row

PYTHON = '/usr/bin/python3'
MAKE = ('import os, sys\n'
        'for i in range(int(sys.argv[2])):\n'
        '    if i % 1000 == 0: os.makedirs(f"{sys.argv[1]}/{i // 1000}")\n'
        '    os.close(os.open(f"{sys.argv[1]}/{i // 1000}/{i}.jpg",'
        ' os.O_RDWR | os.O_CREAT))\n')
TIME_BAR_S, MEMORY_BAR_MB, PAGE_BAR_MB = 10, 300, 1


def timed(session, command):
    """(seconds, peak MB)"""
    began = time.monotonic()
    peak = session.run(command, sample=True, quiet=True).peak
    return time.monotonic() - began, peak.pss_bytes / 1e6


def rows_of(session, path, what, judged):
    page = path + '.html'
    report_s, report_mb = timed(session, [session.weir, 'report', path])
    page_s, page_mb = timed(session, [session.weir, 'report', path, '--html',
                                      page])
    size = os.path.getsize(page) / 1e6
    note = [f'the trace has {os.path.getsize(path) / 1e6:.1f} MB; the page '
            f'takes {page_s:.1f} s and {page_mb:.0f} MB']
    os.remove(page)
    return [
        Row(f'trace: report of {what}', f'< {TIME_BAR_S} s',
            f'{report_s:.1f} s', report_s < TIME_BAR_S if judged else None,
            note),
        Row(f'trace: memory for {what}', f'< {MEMORY_BAR_MB} MB',
            f'{report_mb:.0f} MB',
            report_mb < MEMORY_BAR_MB if judged else None),
        Row(f'trace: page of {what}', f'< {PAGE_BAR_MB} MB', f'{size:.2f} MB',
            size < PAGE_BAR_MB)]


def events(session):
    """Reads of one file: nothing but events."""
    count = session.pick(10_000_000, 2_000_000, 10_000)
    _, big = trace.data(session)
    path = os.path.join(session.data, 'events.wtrace')
    program = os.path.join(os.path.dirname(session.weir), 'bench',
                           'bench-trace-io')
    session.run([session.weir, 'trace', '-q', '--budget', '2GiB', '-o', path,
                 '--', program, 'pread', big, '1', str(count)])
    try:
        return rows_of(session, path, f'{count:,} events', True)
    finally:
        os.remove(path)


def files(session):
    count = session.pick(1_000_000, 100_000, 2000)
    folder = os.path.join(session.data, 'trace-files')
    path = os.path.join(session.data, 'files.wtrace')
    command = [PYTHON, '-c', MAKE, folder, str(count)]
    try:
        bare_s, _ = timed(session, command)
        shutil.rmtree(folder)
        traced_s, traced_mb = timed(session, [session.weir, 'trace', '-q', '-o',
                                              path, '--', *command])
        rows = rows_of(session, path, f'{count:,} files', False)
    finally:
        for place in (folder, path):
            if os.path.isdir(place):
                shutil.rmtree(place)
            elif os.path.exists(place):
                os.remove(place)
    rows.append(Row(f'trace: {count:,} files, made and traced', '-',
                    f'{traced_s:.1f} s, {traced_mb:.0f} MB', None,
                    [f'{bare_s:.1f} s without']))
    return rows


def measure(session):
    return events(session) + files(session)
