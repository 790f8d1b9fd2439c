# predict.py - what 'weir plan' predicts, against what 'weir' then measures.
# SPDX-License-Identifier: Apache-2.0
#
# The plan knows one record of each form of the data, made by one thread from
# the page cache without an accelerator, and a probe of the disk. Threads,
# prefetch, devices and accelerators of the cells are others than those.
import json
import os
import shutil
import statistics

from lib import weir
from lib.report import Row

MEDIAN, WORST, SAVES = 0.05, 0.15, 0.10
DEPTH = 32
DEVICES = ('hdd', 'ssd', 'lustre', 'nvme', 'disk')
# form, threads, prefetch, milliseconds of a step
CELLS = {
    'hdd': (('files', 1, 1, 100), ('files', 2, 0, 150), ('files', 4, 2, 300),
            ('files', 8, 0, 100), ('shards', 1, 0, 100), ('shards', 4, 1, 200),
            ('tensors', 2, 2, 150), ('tensors', 8, 1, 100)),
    None: (('files', 1, 0, 50), ('files', 2, 1, 50), ('files', 4, 0, 60),
           ('files', 8, 2, 100), ('shards', 1, 1, 60), ('shards', 2, 0, 40),
           ('tensors', 4, 0, 20), ('tensors', 8, 1, 30)),
}


def forms(session):
    """The same pictures as files, as shards and as tensors."""
    files = session.data_set('imagenet', session.pick(1024, 256, 20))
    paths = {'files': files}
    for form, kind in (('shards', 'tfrecord'), ('tensors', 'tensor')):
        paths[form] = f'{files}-{form}'
        if not os.path.isdir(paths[form]):
            session.run([session.weir, 'convert', files, paths[form], '--to',
                         kind])
    return paths


def known(session, paths):
    """The records that all predictions are made from."""
    records = {}
    for form, path in paths.items():
        name = f'plan-known-{form}'
        weir.bench(session, name, path, '-t', 1, '-p', 1, '-d', DEPTH,
                   '--page-cache', 'warm', '-b', session.batch, '--epochs',
                   session.pick(2, 1, 1), '-r', session.pick(4, 3, 2))
        records[form] = os.path.join(session.records, name + '.json')
    return records


def plan(session, *args):
    out = session.run([session.weir, 'plan', '--json', '-q', '--no-what-if',
                       '--target', '0', *map(str, args)], quiet=True).stdout
    return json.loads(out)['result']


def probed(session):
    path = os.path.join(session.records, 'plan-probe.json')
    session.run([session.weir, 'probe', session.data, '--quick', '-q', '-o',
                 path, *(['--only', 'random'] if session.smoke else [])],
                quiet=True)
    return path


def cell(session, device, spec, paths, records, probe):
    form, threads, prefetch, step = spec
    batches = session.pick(16 if device != 'hdd' else 10, 4, 2)
    common = ('-t', threads, '-p', prefetch, '-d', DEPTH, '--accelerator',
              f'ms={step}')
    real = device == 'disk'
    url = paths[form] if real else f'emu:{device}:{paths[form]}'
    case = weir.bench(session, f'plan-{device}-{form}-{threads}-{prefetch}',
                      url, *common, '-b', session.batch, '--batches', batches,
                      '--no-limits', '--page-cache',
                      'cold' if real else 'warm', '-r',
                      session.pick(4, 2, 2)).cases[0]
    source = (probe,) if real else ('--storage', device)
    guess = plan(session, records[form], *source, *common, '--steps', batches)
    return guess['samples_per_s'] / case.rate(), case.rate()


def measure(session):
    paths = forms(session)
    records = known(session, paths)
    probe = probed(session)
    off, notes = [], []
    for device in DEVICES:
        for spec in CELLS.get(device, CELLS[None]):
            if session.smoke and spec[1:3] not in ((2, 0), (2, 2)):
                continue
            session.say(f'plan-cells: {device}, {spec}')
            ratio, rate = cell(session, device, spec, paths, records, probe)
            off.append(abs(ratio - 1))
            form, threads, prefetch, step = spec
            notes.append(f'{device}, {form}, {threads} threads, prefetch '
                         f'{prefetch}, steps of {step} ms: {ratio:.3f} of '
                         f'{rate:,.0f} samples/s')
    session.save('plan-cells', notes)
    middle = statistics.median(off)
    return [Row(f'predicted against measured, {len(off)} cells: median error',
                f'<= {MEDIAN:.0%}', f'{middle:.1%}', middle <= MEDIAN, notes),
            Row('the same: worst error', f'<= {WORST:.0%}', f'{max(off):.1%}',
                max(off) <= WORST)]


# --- saves ---

PAIRS = (('optane', 'hdd'), ('nvme', 'lustre'), ('ssd', 'hdd'))
WAYS = {'slow': 'direct', 'burst': 'burst', 'async': 'async'}


def saved(session, fast, slow, folder):
    """One benchmark of checkpoints, and what the plan says of each way."""
    path = os.path.join(session.records, f'plan-saves-{fast}-{slow}.json')
    state = session.pick('alexnet', 'small', 'small')
    session.run([session.weir, 'ckpt', 'bench', folder, '--fast-device', fast,
                 '--slow-device', slow, '--state', state, '--moments', '0',
                 '--saves', session.pick('5', '2', '1'), '--warmups',
                 session.pick('2', '1', '0'), '--no-read-back', '-q', '-o',
                 path], quiet=True)
    with open(path, encoding='utf-8') as f:
        record = json.load(f)
    rows = []
    for case in record['cases']:
        way = WAYS.get(case['way'])
        if not way:
            continue
        guess = plan(session, '--samples', 640, '--sample-bytes', 1000,
                     '--cpu-ms', 0, '--cores', 1, '--storage', 'nvme',
                     '--accelerator', 'ms=30000', '--save', way, '--every', 1,
                     '--state', record['bytes'], '--fast', fast, '--slow',
                     slow, '--copy', int(record['bytes'] / record['memcpy_s']),
                     '--steps', 5)['saves']
        result = case['result']
        rows.append((f'{fast} and {slow}, {way}: stall',
                     guess['stall_s'] / result['stall_s'], result['stall_s']))
        if way != 'direct':
            rows.append((f'{fast} and {slow}, {way}: until it is on {slow}',
                         guess['durable_s'] / result['slow_s'],
                         result['slow_s']))
    return rows


def training(session, paths, records, folder):
    """A run that saves on its way, and what the plan says of it."""
    rows = []
    steps, step = session.pick(40, 12, 6), session.pick(200, 100, 20)
    for way, tiers in (('direct', (f'emu:hdd:{folder}/slow',)),
                       ('burst', (f'emu:optane:{folder}/fast',
                                  f'emu:hdd:{folder}/slow'))):
        found = trained(session, paths, way, tiers, steps, step)
        if found is None:
            continue
        seconds, stall, state = found
        guess = plan(session, records['files'], '--storage', 'ssd',
                     '--accelerator', f'ms={step}', '--steps', steps, '-p', 1,
                     '--save', way, '--every', max(steps // 4, 2), '--state',
                     state, '--slow', 'hdd', '--fast', 'optane', '-e', 1,
                     '--samples', steps * session.batch)
        rows.append((f'a run with saves, {way}: its time',
                     guess['seconds'] / seconds, seconds))
    return rows


def trained(session, paths, way, tiers, steps, step):
    """weir train with an emulated accelerator: seconds, and bytes of a save."""
    path = os.path.join(session.records, f'plan-train-{way}.json')
    for url in tiers:
        shutil.rmtree(url.split(':', 2)[2], ignore_errors=True)
        os.makedirs(url.split(':', 2)[2])
    command = [session.weir, 'train', f'emu:ssd:{paths["files"]}',
               '--accelerator', f'ms={step}', '-i', steps, '-b', session.batch,
               '--checkpoint-every', max(steps // 4, 2), '--checkpoint',
               *tiers, '--width', '0.5', '-q', '-o', path]
    session.run([str(c) for c in command], quiet=True)
    with open(path, encoding='utf-8') as f:
        record = json.load(f)
    return record['result']['seconds'], None, record['checkpoint']['bytes']


def measure_saves(session):
    rows = []
    folder = os.path.join(session.out, 'plan-saves')
    os.makedirs(folder, exist_ok=True)
    for fast, slow in PAIRS[:session.pick(3, 2, 1)]:
        session.say(f'plan-saves: {fast} and {slow}')
        rows += saved(session, fast, slow, folder)
    shutil.rmtree(folder, ignore_errors=True)
    session.save('plan-saves', rows)
    return [Row(f'saves predicted: {what}', f'within {SAVES:.0%}',
                f'{ratio:.3f}', abs(ratio - 1) <= SAVES,
                [f'measured {1000 * seconds:,.1f} ms'])
            for what, ratio, seconds in rows]
