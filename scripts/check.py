#!/usr/bin/python3
# check.py - builds what one test or suite needs, and runs it.
# SPDX-License-Identifier: Apache-2.0
#
# usage: check.py BUILD NAME        behind `make check T=NAME`
#
# NAME is a unit test (test-ROOM-FILE, ROOM-FILE, FILE, a path of its source or of
# the source that it tests), a test of the command line (COMMAND/NAME, or the path
# of its script), any other test or suite by the name that Meson has for it. Of long
# tests the part of this commit runs: WEIR_TEST_PART=N runs part N, an empty
# WEIR_TEST_PART all of them.
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / 'scripts'
UNIT_SOURCE = re.compile(r'(?:tests/unit|src)/(\w+)/(?:test_)?(\w+)\.[ch]$')


def alike(name):
    """Names of files have "_" where those of tests may have "-"."""
    return name.replace('_', '-')


def unit_names(room, name):
    """What a unit test is called for short."""
    name = alike(name)
    return {name, f'{room}-{name}', f'{room}/{name}', f'test-{room}-{name}',
            f'test-{name}'}


def is_unit(wanted):
    """Whether it looks like a unit test, before anything is configured."""
    return any(wanted in unit_names(path.parent.name, path.stem[len('test_'):])
               for path in ROOT.glob('tests/unit/*/test_*.c'))


def plain_name(wanted):
    """What somebody may have typed or pasted, as tests are named."""
    source = UNIT_SOURCE.search(wanted)
    if source:
        return f'test-{source[1]}-{alike(source[2])}'
    script = re.search(r'tests/cli/(\w+/[\w-]+)\.sh$', wanted)
    if script:
        return script[1]
    return alike(re.sub(r'\.(?:sh|c|py)$', '', wanted.removeprefix('build/')
                        .removeprefix('tests/unit/')))


def room_of(test):
    """Of a unit test; of others None."""
    suites = [s.split(':')[-1] for s in test['suite']]
    return suites[1] if suites[0] == 'unit' else None


def names_of(test):
    room = room_of(test)
    if not room:
        return {alike(test['name'])}
    # Some have the name of their room in their own.
    return unit_names(room, test['name']) | unit_names(
        room, test['name'].removeprefix(f'{room}_'))


def suites_of(test):
    return {alike(s.split(':')[-1]) for s in test['suite']}


def selection(tests, wanted):
    """(tests, arguments of `meson test`), or nothing of that name."""
    found = [t for t in tests if wanted in names_of(t)]
    if found:
        rooms = {room_of(t) for t in found}
        names = sorted({t['name'] for t in found})
        suite = ['--suite', rooms.pop()] if len(rooms) == 1 and None not in \
            rooms else []
        return found, suite + names
    found = [t for t in tests if wanted in suites_of(t)]
    if not found:
        return [], []
    suite = next(s.split(':')[-1] for s in found[0]['suite']
                 if alike(s.split(':')[-1]) == wanted)
    return found, ['--suite', suite]


def run(*command):
    result = subprocess.run(command, cwd=ROOT, check=False).returncode
    if result:
        sys.exit(result)


def build_what(found):
    """Meson builds what tests depend on; if that is nothing, all there is."""
    return [] if any(t['depends'] for t in found) else ['--no-rebuild']


def near(tests, wanted):
    known = sorted(set().union(*(names_of(t) | suites_of(t) for t in tests)))
    last = wanted.split('/')[-1].split('-')[-1]
    return (difflib.get_close_matches(wanted, known, 8) or
            [n for n in known if last in n][:8])


def main():
    if len(sys.argv) != 3 or not sys.argv[2]:
        sys.exit('usage: make check T=NAME    (CONTRIBUTING.md: Tests)')
    build, wanted = sys.argv[1], plain_name(sys.argv[2])
    run(SCRIPTS / 'deps.sh', 'build', 'unit' if is_unit(wanted) else 'test')
    os.environ['NINJA_TARGETS'] = 'build.ninja'  # configure, and no more
    run(SCRIPTS / 'build.sh', build, '-Dtests=enabled')
    with open(ROOT / build / 'meson-info/intro-tests.json',
              encoding='utf-8') as f:
        tests = json.load(f)
    found, arguments = selection(tests, wanted)
    if not found:
        sys.exit(f'check: no test or suite "{wanted}"; there is: '
                 + (', '.join(near(tests, wanted)) or 'nothing like it'))
    full = all('full' in suites_of(t) for t in found)
    if full:
        run(SCRIPTS / 'deps.sh', 'full')
    if 'WEIR_TEST_PART' not in os.environ:
        os.environ['WEIR_TEST_PART'] = subprocess.run(
            [SCRIPTS / 'part.sh'], capture_output=True, text=True,
            check=True).stdout.strip()
    jobs = os.environ.get('WEIR_TEST_JOBS', str(max(1, os.cpu_count() * 5 // 2)))
    run('meson', 'test', '-C', build, '--print-errorlogs', '--num-processes',
        jobs, '--setup', 'full' if full else 'quick', *build_what(found),
        *arguments)


main()
