# replay.py - a traced script: replayed where it ran and elsewhere, and described.
# SPDX-License-Identifier: Apache-2.0
#
# usage: replay.py WEIR
import json
import os
import subprocess
import sys
import tempfile

PYTHON = '/usr/bin/python3'
FILES, BATCH, EPOCHS, SIZE = 48, 8, 2, 20_000
SCRIPT = f'''
import os, random, sys, time
names = sorted(os.listdir(sys.argv[1]))
for epoch in range({EPOCHS}):
    random.Random(epoch).shuffle(names)
    for i, name in enumerate(names):
        with open(os.path.join(sys.argv[1], name), "rb") as f:
            assert len(f.read()) == {SIZE}
        if i % {BATCH} == {BATCH} - 1:
            time.sleep(0.03)
with open(sys.argv[2], "wb") as f:
    f.write(bytes(300_000))
    f.flush()
    os.fsync(f.fileno())
'''


def run(*args, code=0):
    p = subprocess.run(args, capture_output=True, text=True, timeout=120)
    assert p.returncode == code, f'{args}: {p.returncode}\n{p.stdout}{p.stderr}'
    return p.stdout, p.stderr


def replay(weir, trace, *args):
    out, err = run(weir, 'probe', '--json', '--replay', trace, *args)
    result = json.loads(out)
    return result, {c['operation']: c for c in result['operations']}, err


def check_replays(weir, trace, folder):
    data = os.path.join(folder, 'data')
    wanted = FILES * EPOCHS * SIZE

    result, ops, _ = replay(weir, trace)
    assert result['missing'] == result['failed'] == result['short'] == 0, result
    assert ops['read']['bytes'] >= wanted, ops
    assert 'write' not in ops and 'sync' not in ops, ops
    assert result['left_out_writes'] > 0, result

    for url in data, f'emu:hdd:{data}':
        result, ops, _ = replay(weir, trace, url, '--replay-speed', 'asap')
        assert result['missing'] == result['failed'] == 0, result
        assert ops['read']['bytes'] == wanted, ops
        assert ops['open']['requests'] == FILES * EPOCHS, ops
    # A disk with heads: a seek for each file at least.
    assert result['replayed_io_s'] > 0.1, result

    # Computed: the same each time, and the record says all that was printed.
    record = os.path.join(folder, 'replay.json')
    again, _, _ = replay(weir, trace, f'emu:hdd:{data}', '--replay-speed',
                         'asap', '--record', record)
    assert again['replayed_io_s'] == result['replayed_io_s'], (again, result)
    with open(record, encoding='utf-8') as f:
        kept = json.load(f)
    assert kept['operations'] == again['operations'], kept
    assert kept['device_profile'] == 'hdd' and kept['computed'], kept
    text, _ = run(weir, 'report', record)
    assert 'Replay, emulated hdd' in text and 'run.wtrace' in text, text
    os.remove(record)
    out, _ = run(weir, 'probe', '--replay', trace, f'emu:ssd:{data}')
    assert 'I/O of all threads' in out and 'read' in out, out
    for wrong in 'emu:nosuch:', 'emu:hdd,trace=x:', 'emu:':
        _, err = run(weir, 'probe', '--replay', trace, wrong + data, code=1)
        assert 'emu:' in err or 'nosuch' in err, err

    before = sorted(os.listdir(folder))
    result, ops, _ = replay(weir, trace, f'emu:hdd:{folder}', '--replay-writes',
                            '--replay-speed', 'asap')
    assert ops['write']['bytes'] == 300_000 and ops['sync']['requests'] == 1, ops
    assert sorted(os.listdir(folder)) == before, 'a computed replay wrote'
    result, ops, _ = replay(weir, trace, folder, '--replay-writes',
                            '--replay-speed', 'asap')
    assert ops['write']['bytes'] == 300_000 and ops['sync']['requests'] == 1, ops
    assert sorted(os.listdir(folder)) == before, 'the replay left files'

    os.rename(os.path.join(data, '07.jpg'), os.path.join(folder, 'away'))
    result, _, err = replay(weir, trace, data, '--replay-speed', 'asap')
    assert result['missing'] > 0 and "'07.jpg': not there" in err, (result, err)
    os.rename(os.path.join(folder, 'away'), os.path.join(data, '07.jpg'))

    _, err = run(weir, 'probe', '--replay', trace, '/usr', code=1)
    assert 'no traced file is there' in err, err
    run(weir, 'probe', '--replay', trace, '--replay-writes', code=2)


def check_workload(weir, trace, folder):
    path = os.path.join(folder, 'mine.yaml')
    run(weir, 'trace', '--to-workload', trace, path)
    text, _ = run(weir, 'trace', '--to-workload', trace)
    with open(path, encoding='utf-8') as f:
        assert f.read() == text
    for line in ('format: jpeg', f'num_files_train: {FILES}',
                 f'record_length_bytes: {SIZE}', f'batch_size: {BATCH}',
                 'file_shuffle: "seed"', f'epochs: {EPOCHS}', 'fsync: true',
                 'model_size_bytes: 300000'):
        assert line in text, f'{line} is not in:\n{text}'
    out, _ = run(weir, 'run', path, '--explain')
    assert 'steps per epoch' in out, out
    run(weir, 'gen', path, os.path.join(folder, 'made'))
    run(weir, 'run', path, os.path.join(folder, 'made'),
        'workflow.checkpoint=false', 'train.epochs=1')


def main():
    weir = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix='weir-replay-') as folder:
        trace = os.path.join(folder, 'run.wtrace')
        os.mkdir(os.path.join(folder, 'data'))
        for i in range(FILES):
            with open(os.path.join(folder, 'data', f'{i:02}.jpg'), 'wb') as f:
                f.write(os.urandom(SIZE))
        run(weir, 'trace', '-q', '-o', trace, '--', PYTHON, '-c', SCRIPT,
            os.path.join(folder, 'data'), os.path.join(folder, 'state.pt'))
        check_replays(weir, trace, folder)
        check_workload(weir, trace, folder)


main()
