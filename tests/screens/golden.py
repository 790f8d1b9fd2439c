# golden.py - what commands print of fixed inputs, to the letter.
# SPDX-License-Identifier: Apache-2.0
#
# usage: golden.py WEIR ANSWERS-DUMP [--write] [--only CASE]...
#
# A case is a script that makes its inputs, and commands. Kept in tests/data/screens
# is what these print in a pipe, on a terminal of 80 columns, and with --json; each
# starts from inputs of its own. Times, rates, dates and ids differ from run to run
# and are shown as <s>, <ms> and so on. --write keeps what comes out now: look at the
# difference before you commit it. What the screens of all answers make of made-up
# values (answers.c) is kept, too.
import argparse
import concurrent.futures
import difflib
import fcntl
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import termios

HERE = pathlib.Path(__file__).resolve().parent
KEPT = HERE.parent / 'data' / 'screens'
COLUMNS = 80
WIDE = 200  # where lines with times would be broken now here, now there

STEPS = f'''. {HERE.parent}/cli/ckpt/make.inc
save() {{ # FAST STEP TEXT LEVEL
    make_file in.safetensors "$3"
    weir ckpt save "$1" slow --from in.safetensors --step "$2" --level "$4" \\
        --keep 0 --keep-fast 9
}}
'''
# Each case: how its inputs are made, then its commands; one that begins with "! "
# is part of the making, after the commands before it, and shows nothing.
CASES = {
    'inspect-pictures': ('''
        weir gen caltech101 d -n 60 -c 5
        : >d/class_0001/empty.jpg
        cp d/class_0000/image_0000.jpg d/class_0002/named.png || :
        echo 'no picture' >d/class_0003/bad.jpg
        echo other >d/class_0003/other.xyz
        ln -s ../class_0000 d/class_0004/link
        ''', ['weir inspect d', 'weir inspect d --verify --list-classes',
              'weir inspect d --samples 7 --list-classes']),
    'inspect-records': ('''
        weir gen caltech101 d -n 24 -c 4
        weir convert d rec --to tfrecord --shard-size 100KiB
        mkdir gz
        for f in rec/*.tfrecord; do gzip -nc "$f" >"gz/${f#rec/}.gz"; done
        ''', ['weir inspect rec -n 1000 --list-classes', 'weir inspect gz -n 5']),
    'inspect-tensors': ('''
        weir gen tensors raw --samples 3 --shape 4x4x3
        printf 'a,b\\n1,2\\n3,x\\n4,1e309\\n5,6\\n' >stray.csv
        ''', ['weir inspect raw', 'weir inspect stray.csv --verify',
              'weir inspect missing']),
    'inspect-hdf5': (f'cp {HERE.parent}/data/hdf5/tiles.h5 .',
                     ['weir inspect tiles.h5',
                      "weir inspect 'tiles.h5#data=/x,label=/y'"]),
    'inspect-made': ('''
        weir gen default made dataset.num_files_train=3
        ''', ['weir inspect made --verify -t 1',
              '! f=$(find made -type f -name "*.npz" | sort | head -n 1); '
              'printf X | dd of="$f" bs=1 seek=600 conv=notrunc; '
              'rm "$(find made -type f -name "*.npz" | sort | tail -n 1)"; '
              'cp "$f" "${f%/*}/more.npz"',
              'weir inspect made --verify -t 1']),
    'convert': ('''
        weir gen caltech101 d -n 60 -c 4
        echo broken >"$(find d -name '*.jpg' | sort | sed -n 4p)"
        ''', ['weir convert d tf --to tfrecord --shard-size 300KiB -t 1',
              'weir convert d tensors --to tensor --size 16 -t 2',
              'weir convert d small --to jpeg --max-side 100 --quality 80 -t 1']),
    'stage': ('''
        weir gen caltech101 d -n 40 -c 2
        echo broken >d/class_0001/text.jpg
        mkdir fast small
        ''', ['weir stage d small:100KiB -t 1 -d 1', 'weir stage d fast:50MiB',
              'weir stage d fast:50MiB --cache-what decoded --size 16x16']),
    'cache': ('''
        mkdir -p set/a
        head -c 100000 /dev/zero >set/a/1
        head -c 50000 /dev/zero >set/2
        sync set/a/1 set/2
        ''', ['weir cache warm set', 'weir cache status set',
              'weir cache status nothing']),
    'mount': ('', ['weir mount --list']),
    'doctor': ('mkdir there', ['weir doctor there nothing']),
    'ckpt-steps': (STEPS + '''
        save a 100 'both' verified
        save a 110 'stale, of a' fast
        save b 105 'newer, of b' verified
        weir ckpt pin b slow --step 105
        ''', ['weir ckpt ls a slow', 'weir ckpt ls slow', 'weir ckpt show a slow',
              'weir ckpt show in.safetensors', 'weir ckpt verify a slow',
              'weir ckpt verify in.safetensors', 'weir ckpt verify slow --step 100',
              'weir ckpt adopt a slow --dry-run', 'weir ckpt discard a slow --dry-run',
              'weir ckpt adopt a slow', 'weir ckpt discard a slow',
              'weir ckpt id a slow', 'weir ckpt pin a slow --step 100',
              'weir ckpt unpin a slow --step 100', 'weir ckpt rm a slow --step 100',
              'weir ckpt restore a slow --into out']),
    'ckpt-left': (STEPS + '''
        make_file 10 ten
        make_file 20 twenty
        make_file 15 fifteen
        ''', ['weir ckpt save fast slow --from 10 --step 10 --level fast --keep-fast 9',
              'weir ckpt drain fast slow --keep 0 --keep-fast 9',
              'weir ckpt drain fast slow --keep 0 --keep-fast 9',
              'weir ckpt save fast slow --from 20 --step 20 --keep-fast 9',
              'weir ckpt save fast slow --from 15 --step 15 --keep-fast 9',
              'weir ckpt ls fast slow',
              'weir ckpt prune fast slow --keep 1 --keep-abandoned 0 --dry-run',
              'weir ckpt prune fast slow --keep 1 --keep-abandoned 0 --spare',
              'weir ckpt prune fast slow --keep 1 --keep-abandoned 0 --spare']),
    'ckpt-bad': (STEPS + '''
        save fast 1 'one' verified
        save fast 2 'two' verified
        save fast 3 'three' verified
        printf X | dd of=slow/step-000000000002/r00000.safetensors bs=1 seek=4096 \\
            conv=notrunc
        rm slow/step-000000000003/r00000.safetensors
        ''', ['weir ckpt ls slow', 'weir ckpt verify slow',
              'weir ckpt verify fault:eacces@~000000000001/r0:slow',
              'weir ckpt restore slow --into out', 'weir ckpt ls missing',
              'weir ckpt show slow/step-000000000001']),
}
HEALTH = re.compile(r'^ *(?:\\e\[\d+m)?(?:ok|limited|missing) *(?:\\e\[0m)? +(.{13})  .*\n'
                    r'(?: {24,26}.*\n)*', re.M)
# What differs from run to run: a pattern, and what stands for it.
FILTERS = [
    (re.compile(r'\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b'), '<date and  time..>'),
    (re.compile(r'\b[0-9a-f]{32}\b'), '<id>'),
    (re.compile(r'("(?:time_ns)": )\d+'), r'\1<ns>'),
    (re.compile(r'("(?:seconds|mb_per_s|before_ms|after_ms|core_seconds_per_epoch)": )'
                r'-?[\d.e+-]+'), r'\1<number>'),
    (re.compile(r'\b[\d.]+ (?:K|M|G)?B/s'), '<rate>'),
    (re.compile(r'\b[\d.]+ (?:s|ms|us|ns)\b'), '<time>'),
    (re.compile(r'(?:saves|costs) [\d.]+ core-seconds'), 'saves <s> core-seconds'),
    (re.compile(r'("(?:memory_bytes|bytes_per_sample)": )[\d.]+'), r'\1<memory>'),
    (re.compile(r'[\d.]+ [KM]?B of memory, [\d.]+ bytes'), '<memory>'),
    (re.compile(r'("(?:dirty_bytes|tier_bytes)": )\d+'), r'\1<bytes>'),
    # of the page cache, which others may empty
    (re.compile(r'("resident_(?:bytes|percent)": )[\d.]+'), r'\1<resident>'),
    (re.compile(r'(  150 KB) +[\d.]+ K?B +[\d.]+ % +[\d.]+ K?B'), r'\1 <in cache>'),
]
DOCTOR = [
    (HEALTH, r'<health> \1\n'),
    (re.compile(r'\d+ ok, \d+ limited, \d+ missing'), '<counts>'),
    (re.compile(r'("(?:health|found|means|remedy|weir)": )(?:".*"|null)'), r'\1<...>'),
    (re.compile(r'("(?:ok|limited|missing)": )\d+'), r'\1<count>'),
    (re.compile(r'--strict: .*'), '<strict>'),
]


def environment(weir, where):
    """Of the build, but of no place on earth."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith('LC_') and k not in
           ('LANG', 'LANGUAGE', 'NO_COLOR', 'COLUMNS', 'WEIR')}
    os.symlink(os.path.abspath(weir), where / 'weir')
    env.setdefault('WEIR_HDF5_HELPER', os.path.abspath(f'{weir}-hdf5'))
    return dict(env, LC_ALL='C.UTF-8', TZ='UTC', TERM='xterm', HOME=str(where),
                PATH=f'{where}:{env["PATH"]}', WEIR_INDEX_DIR='')


def on_terminal(command, where, env):
    """What the command shows on a terminal."""
    main, sub = os.openpty()
    columns = WIDE if re.search('convert|made', command) else COLUMNS
    fcntl.ioctl(sub, termios.TIOCSWINSZ, struct.pack('4H', 24, columns, 0, 0))
    shown = b''
    with subprocess.Popen(command, cwd=where, env=env, stdout=sub,
                          stdin=subprocess.DEVNULL, stderr=sub, shell=True) as p:
        os.close(sub)
        try:
            while part := os.read(main, 65536):
                shown += part
        except OSError:
            pass  # EIO: the other end is closed
    os.close(main)
    text = shown.decode().replace('\r\n', '\n').replace('\x1b', '\\e')
    # without the progress lines
    text = '\n'.join(line.rsplit('\r', 1)[-1].replace('\\e[K', '')
                     for line in text.split('\n'))
    return text + (f'exit {p.returncode}\n' if p.returncode else '')


def in_pipe(command, where, env):
    p = subprocess.run(command, cwd=where, env=env, check=False, shell=True,
                       stdin=subprocess.DEVNULL, capture_output=True)
    return (p.stdout.decode() + p.stderr.decode() +
            (f'exit {p.returncode}\n' if p.returncode else ''))


def filtered(case, text):
    if case == 'mount':
        return text  # a table of constants
    for pattern, name in (DOCTOR if case == 'doctor' else []) + FILTERS:
        text = pattern.sub(name, text)
    return text


def run_case(weir, case, form):
    """The text of all its commands, each below its line."""
    setup, commands = CASES[case]
    out = ''
    with tempfile.TemporaryDirectory(prefix='weir-screens-') as folder:
        where = pathlib.Path(folder)
        env = environment(weir, where)
        where = where / 'work'
        where.mkdir()
        subprocess.run(['sh', '-eu', '-c', setup], cwd=where, env=env, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        for line in commands:
            if line.startswith('! '):
                subprocess.run(line[2:], cwd=where, env=env, check=True, shell=True,
                               stderr=subprocess.DEVNULL)
                continue
            run = line + (' --json' if form == 'json' else '')
            show = on_terminal if form == 'terminal' else in_pipe
            text = show(run, where, env).replace(folder, '<folder>')
            out += f'$ {run}\n{filtered(case, text)}\n'
    return out


def check(name, text, write):
    """Whether it is as it was kept; or keeps it."""
    kept = KEPT / name
    if write:
        kept.write_text(text)
        return True
    want = kept.read_text() if kept.exists() else ''
    if text == want:
        return True
    print(f'--- {name} is not as it was')
    changes = difflib.unified_diff(want.split('\n'), text.split('\n'), 'kept',
                                   'now', n=1, lineterm='')
    for line, _ in zip(changes, range(60)):
        print(line[:300])
    return False


def has_hdf5(weir):
    return os.access(os.environ.get('WEIR_HDF5_HELPER', f'{weir}-hdf5'), os.X_OK)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('weir')
    p.add_argument('dump')
    p.add_argument('--write', action='store_true')
    p.add_argument('--only', action='append')
    args = p.parse_args()
    cases = [(case, form) for case in args.only or CASES
             for form in ('pipe', 'terminal', 'json')
             if case != 'inspect-hdf5' or has_hdf5(args.weir)]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        texts = pool.map(lambda c: run_case(args.weir, *c), cases)
        for (case, form), text in zip(cases, texts):
            bad += not check(f'{case}.{form}.txt', text, args.write)
    if not args.only:
        made = subprocess.run([args.dump], check=True, capture_output=True)
        bad += not check('made.txt', made.stdout.decode(), args.write)
    print(f'{len(cases)} outputs, {bad} of them not as they were')
    sys.exit(bad > 0)


if __name__ == '__main__':
    main()
