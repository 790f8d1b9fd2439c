# add_a_number.py - docs/howto/add-a-number.md, done in a copy of the sources.
# SPDX-License-Identifier: Apache-2.0
#
# usage: add_a_number.py SOURCES BUILD
#
# Its patch is applied; what depends on it is compiled beside the build and linked
# before the libraries of the build, whose parts it replaces.
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

PAGE = 'docs/howto/add-a-number.md'
COPIED = ('src', 'include', 'tests/unit/measure', 'tests/data/records',
          'docs/formats')
TEST = 'tests/unit/test-measure-bench'


def run(command, **more):
    p = subprocess.run(command, check=False, text=True, capture_output=True,
                       **more)
    if p.returncode:
        sys.exit(f'{shlex.join(map(str, command))[:300]}\n{p.stdout}{p.stderr}')
    return p.stdout


def apply_page(sources, copy):
    """The files that its patch changed."""
    for folder in COPIED:
        shutil.copytree(sources / folder, copy / folder)
    text = (sources / PAGE).read_text()
    patch = ''.join(re.findall(r'^```diff\n(.*?)^```', text, re.M | re.S))
    run(['git', 'apply', '-'], cwd=copy, input=patch,
        env=dict(os.environ, GIT_CEILING_DIRECTORIES=str(copy.parent)))
    return re.findall(r'^\+\+\+ b/(\S+)', patch, re.M)


def objects_of(build, changed):
    """Objects of the command and of the unit test that were made from these."""
    made = set()
    for block in run(['ninja', '-C', build, '-t', 'deps']).split('\n\n'):
        name, _, deps = block.strip().partition(': #deps')
        if any(re.search(rf'/{re.escape(f)}$', deps, re.M) for f in changed) and (
                name.startswith(('src/', 'weir.p/', TEST + '.p/')) or
                'libweir_commands' in name):
            made.add(name)
    return made


def after_compiler(words):
    """Where it ends: it may be two words, 'ccache gcc'."""
    return next(i for i, word in enumerate(words) if word.startswith('-'))


def compiled(sources, build, copy, entry):
    """The object of an entry of compile_commands.json, from the copy."""
    to = copy / 'objects' / entry['output']
    to.parent.mkdir(parents=True, exist_ok=True)
    words = [w for w in shlex.split(entry['command'])
             if w not in ('-MD', '-O3') and not w.startswith('-D_FORTIFY')]
    for flag in ('-MQ', '-MF', '-o', '-c'):
        at = words.index(flag)
        del words[at:at + 2]
    source = copy / (build / entry['file']).resolve().relative_to(sources)
    flags = after_compiler(words)
    run([*words[:flags], f'-I{copy}/include', f'-I{copy}/src', *words[flags:],
         '-O0', '-o', to, '-c', source], cwd=build)
    return entry['output'], str(to)


def link(build, target, objects, to):
    command = run(['ninja', '-C', build, '-t', 'commands', target])
    words = shlex.split(command.strip().split('\n')[-1])
    words = [objects.get(w, w) for w in words]
    libraries = {w + '.p' for w in words if w.endswith('.a')}
    words[words.index('-o') + 1] = str(to)
    first = [path for name, path in objects.items()
             if name.rpartition('/')[0] in libraries]
    flags = after_compiler(words)
    run([*words[:flags], *first, *words[flags:]], cwd=build)


def check(sources, copy, weir):
    """The number is in a record, its schema and what people see."""
    env = dict(os.environ, LC_ALL='C.UTF-8')
    run([weir, 'gen', 'tensors', 'set', '--samples', '64', '--shape', '8x8x3',
         '--quiet'], cwd=copy, env=env)
    run([weir, 'bench', 'set', '-r', '2', '--batch', '4', '--no-limits',
         '--quiet', '-o', 'run.json'], cwd=copy, env=env)
    record = json.loads((copy / 'run.json').read_text())
    for measured in record['cases'][0]['runs']:
        assert measured['gap_max_ms'] >= measured['gap_p99_ms'] > 0
    (copy / 'schemas').write_text(run([weir, '__schema'], env=env))
    schema = json.loads((copy / 'schemas').read_text())['$defs']['bench']
    case = schema['properties']['cases']['items']['properties']
    assert 'gap_max_ms' in case['runs']['items']['required']
    shown = run([weir, 'report', 'run.json'], cwd=copy, env=env)
    assert re.search(r'\bgap max\b', shown), shown
    made = run([sys.executable, '-B', copy / 'tests/data/records/make.py',
                'bench', '--distinct'])
    assert '"gap_max_ms"' in made
    assert '`gap_max_ms`' in (copy / 'docs/formats/record.md').read_text()


def main():
    sources, build = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix='weir-number-') as folder:
        copy = pathlib.Path(folder)
        changed = apply_page(sources, copy)
        made = objects_of(build, changed)
        entries = [e for e in json.loads(
            (build / 'compile_commands.json').read_text())
            if e['output'] in made]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            objects = dict(pool.map(lambda e: compiled(sources, build, copy, e),
                                    entries))
        link(build, 'weir', objects, copy / 'weir')
        link(build, TEST, objects, copy / 'test')
        run([copy / 'test'], cwd=copy)
        check(sources, copy, copy / 'weir')
        print(f'{len(changed)} files changed, {len(objects)} compiled')


main()
