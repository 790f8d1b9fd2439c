# add_finding.py - docs/howto/add-a-finding.md holds: on a copy of the sources, the
# finding that it adds is found, its programs run, and the lint agrees.
# SPDX-License-Identifier: Apache-2.0
#
# usage: add_finding.py SOURCE BUILD LIBRARY...
#        LIBRARY: what the unit tests of traces are linked with, "-lm"
#
# A text "In `PATH`...:" and the block after it are a step. Of the library only what
# a step touches is compiled; the rest is that of the build.
# Exit code 77: no compiler.
import os
import re
import shutil
import subprocess
import sys
import tempfile

STEP = re.compile(r'In\s+`([^`]+)`[^`]*?(?:`([^`]+)`[^`]*?)?:\n\n'
                  r'```\w*\n(.*?)^```', re.M | re.S)
COPIED = ('src/trace', 'tests/unit/trace', 'docs/howto', 'bench/lib',
          'scripts/lint')
ROW = re.compile(r'^(?:FINDING\("|\| `|    \')([DS]\d\d)\b.*\n', re.M)
BEFORE = re.compile(r'^int main|^PROGRAMS = ', re.M) # what is not a row
LIBRARIES = ('src/trace/libweir_trace.a', 'src/base/libweir_base.a')
SOURCES = ('src/trace/finding.c', 'src/trace/find_storage.c',
           *(f'tests/unit/trace/{name}.c' for name in
             ('test_find_storage', 'maker', 'result', 'script')))


def put(text, block):
    """The text with the block where it belongs: rows by code."""
    row = ROW.match(block)
    if row:
        at = max(m.end() for m in ROW.finditer(text) if m[1] < row[1])
        return text[:at] + block + text[at:]
    found = BEFORE.search(text)
    at = found.start() if found else len(text)
    return f'{text[:at]}\n{block}\n\n{text[at:]}'


def take(copy, path, listed, block):
    """Does one step."""
    path = os.path.join(copy, path)
    with open(path, encoding='utf-8') as f:
        text = put(f.read(), block)
    if listed:
        text = re.sub(r'(CMUnitTest tests\[\] = \{)', rf'\1{listed}, ', text)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def run(*command, code=0, **settings):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **settings)
    if done.returncode != code:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}")
    return done.stdout


def lint(copy, code):
    return run(sys.executable, '-B', os.path.join(copy, 'scripts/lint/findings.py'),
               copy, code=code)


def unit_test(copy, source, build, libraries):
    program = os.path.join(copy, 'test')
    include = [f'-I{os.path.join(top, folder)}' for top in (copy, source)
               for folder in ('src', 'include')]
    run('cc', '-std=gnu17', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Werror',
        '-Wno-unused-parameter', *include, '-o', program,
        *(os.path.join(copy, path) for path in SOURCES),
        *(os.path.join(build, path) for path in LIBRARIES), *libraries)
    return run(program)


def programs(copy, code):
    """Runs the faulty program and the mended one, on 20 files."""
    data = os.path.join(copy, 'data')
    os.mkdir(data)
    for i in range(20):
        with open(os.path.join(data, str(i)), 'wb') as f:
            f.write(bytes(100))
    for state in 'faulty', 'mended':
        run(sys.executable, '-B', os.path.join(copy, 'bench/lib/faulty.py'), code,
            state, data, copy, '20')


def main(source, build, *libraries):
    with open(os.path.join(source, 'docs/howto/add-a-finding.md'),
              encoding='utf-8') as f:
        steps = STEP.findall(f.read())
    code = next(ROW.match(block)[1] for path, _, block in steps
                if path.endswith('.def'))
    test = next(listed for _, listed, _ in steps if listed)
    with tempfile.TemporaryDirectory(prefix='weir-finding-') as copy:
        for folder in COPIED:
            shutil.copytree(os.path.join(source, folder),
                            os.path.join(copy, folder))
        before = lint(copy, 0)
        for step in steps:
            take(copy, *step)
            if step[0].endswith('.def'):
                print(lint(copy, 1)) # nothing else has it
        after = lint(copy, 0)
        if int(after.split()[0]) != int(before.split()[0]) + 1:
            sys.exit(f'{before}and after all steps {after}')
        tested = unit_test(copy, source, build, libraries)
        if not re.search(rf'\[ +OK \] {test[len("cmocka_unit_test("):-1]}', tested):
            sys.exit(f'{test} did not run:\n{tested}')
        programs(copy, code)
    print(f'{len(steps)} steps')


if not shutil.which('cc'):
    sys.exit(77)
main(*map(os.path.abspath, sys.argv[1:3]), *sys.argv[3:])
