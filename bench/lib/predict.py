# predict.py - what 'weir plan' predicts, against what 'weir' then measures.
# SPDX-License-Identifier: Apache-2.0
#
# The plan knows one record of each form of the data, made by one thread from
# the page cache without an accelerator; for the disk one that was made cold, and
# a probe. Threads, prefetch, devices and accelerators of the cells are others.
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


def known(session, paths, cache='warm'):
    """The records that all predictions are made from."""
    records = {}
    for form, path in paths.items():
        name = f'plan-known-{cache}-{form}'
        weir.bench(session, name, path, '-t', 1, '-p', 1, '-d', DEPTH,
                   '--page-cache', cache, '-b', session.batch, '--epochs',
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
                 path, *(['--only', 'seq,random,files'] if session.smoke else [])],
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
    guess = plan(session, records[real][form], *source, *common, '--steps',
                 batches)
    return guess['samples_per_s'] / case.rate(), case.rate()


def measure(session):
    paths = forms(session)
    records = known(session, paths), known(session, paths, 'cold')
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
                     '--accelerator', 'ms=30000', '--save', way, '--save-every', 1,
                     '--state-bytes', record['bytes'], '--fast-device', fast,
                     '--slow-device', slow, '--copy', int(record['bytes'] / record['memcpy_s']),
                     '--steps', 5)['saves']
        result = case['result']
        rows.append((f'{fast} and {slow}, {way}: stall',
                     guess['stall_s'] / result['stall_s'], result['stall_s']))
        if way != 'direct':
            rows.append((f'{fast} and {slow}, {way}: until it is on {slow}',
                         guess['durable_s'] / result['slow_s'],
                         result['slow_s']))
    return rows


# level of weir train, way of weir plan, tiers
TRAININGS = (('fast', 'direct', ('hdd',)), ('fast', 'burst', ('optane', 'hdd')),
             ('snapshot', 'async', ('optane', 'hdd')))


def trained(session, data, level, tiers, steps, step):
    """weir train with an emulated accelerator that saves on its way."""
    path = os.path.join(session.records, f'plan-train-{level}.json')
    folders = [os.path.join(session.out, 'plan-tiers', t) for t in tiers]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
    urls = [f'emu:{t}:{f}' for t, f in zip(tiers, folders)]
    slow = ('--slow', urls[1]) if len(urls) > 1 else ()
    session.run([session.weir, 'train', f'emu:ssd:{data}', '--accelerator',
                 f'ms={step}', '-i', str(steps), '-b', str(session.batch),
                 '--ckpt', urls[0], *slow, '--save-every', str(steps // 4),
                 '--level', level, '--no-verify', '--width', '0.5', '-q', '-o',
                 path], quiet=True)
    shutil.rmtree(os.path.dirname(folders[0]), ignore_errors=True)
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def training(session):
    paths = forms(session)
    known_files = known(session, {'files': paths['files']})['files']
    steps, step = session.pick(40, 8, 4), session.pick(150, 100, 20)
    rows = []
    for level, way, tiers in TRAININGS[:session.pick(3, 3, 1)]:
        record = trained(session, paths['files'], level, tiers, steps, step)
        guess = plan(session, known_files, '--storage', 'ssd', '--accelerator',
                     f'ms={step}', '-t', session.cores, '-p', 1, '--steps',
                     steps, '--samples', steps * session.batch, '--save', way,
                     '--save-every', steps // 4, '--state-bytes',
                     record['network']['state_bytes'], '--fast-device',
                     'optane', '--slow-device', 'hdd', '--copy', '8GiB/s')
        seconds = record['result']['seconds']
        rows.append((f'training with saves, {way}: the whole run',
                     guess['seconds'] / seconds, seconds))
    return rows


def measure_saves(session):
    rows = []
    folder = os.path.join(session.out, 'plan-saves')
    os.makedirs(folder, exist_ok=True)
    for fast, slow in PAIRS[:session.pick(3, 2, 1)]:
        session.say(f'plan-saves: {fast} and {slow}')
        rows += saved(session, fast, slow, folder)
    shutil.rmtree(folder, ignore_errors=True)
    session.say('plan-saves: a training that saves')
    rows += training(session)
    session.save('plan-saves', rows)
    return [Row(f'saves predicted: {what}', f'within {SAVES:.0%}',
                f'{ratio:.3f}', abs(ratio - 1) <= SAVES,
                [f'measured {1000 * seconds:,.1f} ms'])
            for what, ratio, seconds in rows]
