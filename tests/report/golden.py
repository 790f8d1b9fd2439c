# golden.py - what weir report makes of fixed records, to the letter.
# SPDX-License-Identifier: Apache-2.0
#
# usage: golden.py WEIR RESULT-DUMP RESULT-SWAPS [--write] [--only CASE]...
#                  [--first CASES]
#
# A case is some records of tests/data/records and options, or a trace. Kept in
# tests/data/reports are its text on a terminal of 50 columns and on one of 170
# (with colors), CSV, JSON, what the command itself prints of such a record, and of
# the page one digest for each of its parts. Of what is long the same: digests,
# which say where something changed. What the help of each command says of its
# columns is kept, too, and what the tables of values make of made-up ones. --write keeps what comes out now: look at the difference
# before you commit it.
import argparse
import concurrent.futures
import difflib
import fcntl
import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / 'data'
KEPT = DATA / 'reports'
sys.path.insert(0, str(DATA / 'records'))

from make import made  # noqa: E402

BENCH = 'bench --runs 2'
# Each case: its records as make.py makes them, then options of weir report.
CASES = {
    'bench': [BENCH + ' --ranks 2'],
    'bench-one': ['bench --runs 1 --threads 3 --prefetch 2 --no-monitor'],
    'bench-varied': [BENCH + ' --vary --ranks 3'],
    'bench-varied-beside': [BENCH + ' --vary',
                            BENCH + ' --vary --threads 1,4 --seed 4',
                            '--no-compare'],
    'bench-emulated': [BENCH + ' --emulated --no-monitor'],
    'bench-devices': [BENCH + ' --emulated --no-monitor', BENCH +
                      ' --seed 2 --emulated ssd --no-monitor', '--no-compare'],
    'bench-elsewhere': ['bench --no-monitor',
                        'bench --no-monitor --seed 2 --elsewhere'],
    'bench-beside': [BENCH, BENCH + ' --seed 2', '--no-compare'],
    'bench-compared': ['bench --no-monitor', 'bench --no-monitor --seed 2 '
                       '--scale 0.8 --kernel Other --threads 1,2,4'],
    'bench-setting': [BENCH, BENCH + ' --seed 2 --set page_cache=warm',
                      '--no-compare'],
    'ckpt': ['ckpt'],
    'ckpt-compared': ['ckpt', 'ckpt --seed 2 --scale 1.4'],
    'ckpt-setting': ['ckpt --no-monitor', 'ckpt --no-monitor --set tensors=77',
                     '--no-compare'],
    'plan': ['plan'],
    'plan-beside': ['plan', 'plan-tensor --seed 2'],
    'plan-scale': ['plan-scale'],
    'plan-explain': ['plan-explain'],
    'probe': ['probe --runs 2'],
    'probe-compared': ['probe --no-monitor',
                       'probe --no-monitor --seed 3 --scale 1.3'],
    'probe-elsewhere': ['probe --runs 2 --no-monitor',
                        'probe --runs 2 --no-monitor --elsewhere'],
    'probe-setting': ['probe --runs 2', 'probe --runs 2 --set engine=threads',
                      '--no-compare'],
    'replay': ['replay'],
    'replay-beside': ['replay', 'replay --seed 2'],
    'run': ['run'],
    'run-search': ['run-search'],
    'run-slow': ['run-slow'],
    'run-compared': ['run', 'run --seed 3 --scale 1.1'],
    'run-setting': ['run --no-monitor', 'run --no-monitor --set prefetch=77',
                    '--no-compare'],
    'study': ['study'],
    'trace': ['trace'],
    'train': ['train'],
    'train-alone': ['train --alone'],
    'train-compared': ['train', 'train --seed 2'],
    'mixed': ['bench --no-monitor', 'probe --no-monitor', 'replay'],
}
# Traces are not records: their own text, and the forms that only they have.
TRACES = {'trace-file': 'findings/D03-mended',
          'trace-probed': 'findings/D12-faulty'}
# What the columns of tables mean.
HELP = ('bench', 'ckpt bench', 'plan', 'probe', 'report', 'study', 'train')
NARROW, WIDE = 50, 170
HEAD = 2000  # letters of a long output that are kept as they are
# The beginnings of what has a digest of its own on a page.
PART = re.compile(r'(?=<(?:section|figure|table|h2|main|nav)\b)')
NAMED = re.compile(r'<(?:h2|h3|caption)\b[^>]*>([^<]*)')
SCRIPT = re.compile(r'(<script>|<style>).*?(</script>|</style>)', re.S)
HASHES = re.compile(r'sha256-[^\']*')


def environment():
    """Of the build, but of no place on earth."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith('LC_') and k not in
           ('LANG', 'LANGUAGE', 'NO_COLOR', 'COLUMNS', 'WEIR')}
    return dict(env, LC_ALL='C.UTF-8', TZ='UTC', TERM='xterm')


def on_terminal(command, columns, where):
    """What the command shows on a terminal of so many columns."""
    main, sub = os.openpty()
    fcntl.ioctl(sub, termios.TIOCSWINSZ, struct.pack('4H', 24, columns, 0, 0))
    shown = b''
    with subprocess.Popen(command, cwd=where, env=environment(), stdout=sub,
                          stdin=subprocess.DEVNULL, stderr=sub) as p:
        os.close(sub)
        try:
            while part := os.read(main, 65536):
                shown += part
        except OSError:
            pass  # EIO: the other end is closed
    os.close(main)
    text = shown.decode().replace('\r\n', '\n').replace('\x1b', '\\e')
    return text + (f'exit {p.returncode}\n' if p.returncode else '')


def plain(command, where):
    p = subprocess.run(command, cwd=where, env=environment(), check=False,
                       stdin=subprocess.DEVNULL, capture_output=True)
    if p.returncode and b'built without' in p.stderr:
        return None
    return p.stdout.decode() + p.stderr.decode()


def digest_line(text, name):
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f'{digest} {len(text):6} {name}'.rstrip() + '\n'


def page_digests(page):
    """One line for each part of the page: digest, bytes, what it is."""
    page = SCRIPT.sub(r'\1\2', HASHES.sub('', page))
    out = ''
    for part in PART.split(page):
        name = NAMED.search(part)
        kind = re.match(r'<?!?(\w*)', part)[1]
        out += digest_line(part, f'{kind} {name[1] if name else ""}')
    return out


def line_digests(text, fields):
    """One line for each run of lines that begin with the same fields."""
    groups = itertools.groupby(text.splitlines(True),
                               lambda line: ','.join(line.split(',')[:fields]))
    return ''.join(digest_line(''.join(lines), name.strip())
                   for name, lines in groups)


def columns(weir, where):
    """What the help of each command says of its columns."""
    for command in HELP:
        shown = plain([weir, *command.split(), '--help'], where)
        parts = re.findall(r'^Columns.*?(?=^\S|\Z)', shown, re.M | re.S)
        yield f'{command.replace(" ", "-")}.txt', ''.join(parts)


def outputs(args, case, where):
    """(file name, text) of all forms of a case; None where it has none."""
    weir = os.path.abspath(args.weir)
    if case == 'columns':
        yield from columns(weir, where)
        return
    if case == 'values':
        yield 'written.txt', plain([os.path.abspath(args.swaps), '--written'],
                                   where)
        return
    files = sorted(p.name for p in where.iterdir() if p.suffix != '.probe')
    options = [w for w in CASES.get(case, []) if w.startswith('-')]
    if (where / 'a.probe').exists():
        options += ['--probe', 'a.probe']
    report = [weir, 'report', *files, *options]
    yield 'narrow.txt', on_terminal([*report, '--color', 'never'], NARROW, where)
    yield 'wide.txt', on_terminal(report, WIDE, where)
    if case in TRACES:
        for form, fields in (('csv', 0), ('chrome', 0), ('darshan', 0)):
            text = plain([*report, '--as', form], where)
            yield f'{form}.txt', text[:HEAD] + '\n' + line_digests(text, fields)
        return
    csv = plain([*report, '--as', 'csv'], where)
    if len(files) > 1:
        yield 'csv.txt', line_digests(csv, 3)
    else:
        yield 'csv', csv
    yield 'json', plain([*report, '--as', 'json'], where)
    if len(files) == 1:
        yield 'result.txt', plain([os.path.abspath(args.dump), *files], where)
    page = plain([*report, '--html', '-'], where)
    yield 'page.txt', page and page_digests(page)


def lay_out(case, where):
    """The files of a case, under names that are always the same."""
    if case in TRACES:
        trace = DATA / 'traces' / (TRACES[case] + '.wtrace')
        shutil.copy(trace, where / 'a.wtrace')
        if os.path.exists(f'{trace}.probe'):
            shutil.copy(f'{trace}.probe', where / 'a.probe')
        return
    records = [w for w in CASES.get(case, []) if not w.startswith('-')]
    for name, words in zip('abc', records):
        record = made(words.split() + ['--distinct'])
        (where / f'{name}.json').write_text(json.dumps(record, indent=1))


def check(case, name, text, args):
    """Whether it is as it was kept; or keeps it."""
    kept = KEPT / f'{case}.{name}'
    if text is None:
        return True  # built without pages
    if args.write:
        kept.write_text(text)
        return True
    want = kept.read_text() if kept.exists() else ''
    if text == want:
        return True
    print(f'--- {case}: {name} is not as it was')
    changes = difflib.unified_diff(want.split('\n'), text.split('\n'), kept.name,
                                   'now', n=1, lineterm='')
    for line, _ in zip(changes, range(30)):
        print(line[:300])
    return False


def run_case(case, args):
    with tempfile.TemporaryDirectory(prefix='weir-golden-') as folder:
        where = pathlib.Path(folder)
        lay_out(case, where)
        return list(outputs(args, case, where))


def main():
    p = argparse.ArgumentParser()
    p.add_argument('weir')
    p.add_argument('dump')
    p.add_argument('swaps')
    p.add_argument('--write', action='store_true')
    p.add_argument('--only', action='append')
    p.add_argument('--first', metavar='CASES',
                   help='those that begin so first; end with a difference')
    args = p.parse_args()
    cases = args.only or [*CASES, *TRACES, 'columns', 'values']
    if args.first:
        cases.sort(key=lambda case: not case.startswith(args.first))
    count = bad = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, made_now in zip(cases, pool.map(lambda c: run_case(c, args),
                                                  cases)):
            for name, text in made_now:
                count += 1
                bad += not check(case, name, text, args)
                if bad and args.first:
                    pool.shutdown(cancel_futures=True)
                    sys.exit(1)
    if args.write and not args.only:
        for kept in KEPT.iterdir():
            if kept.name.split('.')[0] not in cases:
                kept.unlink()
    print(f'{count} outputs, {bad} of them not as they were')
    sys.exit(bad > 0)


if __name__ == '__main__':
    main()
