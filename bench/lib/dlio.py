# dlio.py - the same training by 'weir run' and by DLIO, in turn.
# SPDX-License-Identifier: Apache-2.0
#
# DLIO prints a utilization of its own, whose computing is as long as it took.
# Here both are judged alike: the time that is described over the time that the
# epoch took, by DLIO's own clock (per_epoch_stats.json). The first epoch of each
# counts for nothing.
import json
import os
import resource
import shutil
import statistics
from datetime import datetime

from lib import workload
from lib.report import Row
from lib.session import Missing

STEPS = ((0.000375, 1200), (0.0035, 600))
NPZ_BYTES, NPZ_FILES, NPZ_BATCH, READERS = 1 << 20, 200, 4, 2
EPOCHS = 4


def program(session):
    """The start of its command, once make bench-peers has installed it."""
    peers = os.path.join(os.path.dirname(os.path.abspath(session.weir)),
                         'peers')
    path = os.path.join(peers, 'venv-dlio', 'bin', 'dlio_benchmark')
    if not os.access(path, os.X_OK):
        raise Missing('no DLIO: scripts/peers.sh BUILD/peers dlio installs it')
    libraries = os.path.join(peers, 'lib-dlio')
    return ['env', f'LD_LIBRARY_PATH={libraries}', 'OMP_NUM_THREADS=1',
            'TF_CPP_MIN_LOG_LEVEL=3', path, 'workload=default']


def theirs(session, data, keys):
    """Runs DLIO; seconds of each epoch of a training."""
    out = os.path.join(session.out, 'dlio')
    shutil.rmtree(out, ignore_errors=True)
    keys = {'workflow.evaluation': False, 'dataset.data_folder': data,
            'dataset.num_subfolders_train': 0, 'dataset.num_files_eval': 0,
            'dataset.num_subfolders_eval': 0, **keys}
    session.run([*program(session), f'hydra.run.dir={out}',
                 f'++workload.output.folder={out}',
                 *(f'++workload.{k}={v}' for k, v in keys.items())],
                quiet=True)
    try:
        with open(os.path.join(out, 'per_epoch_stats.json'),
                  encoding='utf-8') as f:
            epochs = json.load(f)
    except FileNotFoundError:
        return []
    return [(datetime.fromisoformat(e['end'])
             - datetime.fromisoformat(e['start'])).total_seconds()
            for e in epochs.values()]


def generated(session, name, keys):
    """The files that DLIO makes of a description, made once."""
    data = os.path.abspath(os.path.join(session.data, name))
    if not os.path.isdir(data):
        session.say('run-dlio: generating')
        theirs(session, data + '.half', {
            **keys, 'workflow.generate_data': True, 'workflow.train': False})
        os.rename(data + '.half', data)
    return data


def per_step(epochs, steps):
    return statistics.median(epochs[1:] or epochs) / steps


def ours(session, data, keys, *options):
    record = workload.run(session, data, {
        k: v for k, v in keys.items() if not k.startswith('reader.data_')},
        '--index-dir', os.path.join(session.out, 'index'), *options)
    return [e['seconds'] for e in record['epochs']]


def step_row(session, step_s, steps):
    """Neither reads anything: DLIO by its synthetic loader, which wants to see
    files none the less."""
    steps = session.pick(steps, steps // 4, 40)
    keys = {'dataset.num_files_train': steps, 'reader.batch_size': 1,
            'train.epochs': EPOCHS}
    files = generated(session, f'dlio-steps-{steps}',
                      {**keys, 'dataset.record_length': 4096})
    keys |= {'train.computation_time': step_s}
    pairs = [(per_step(ours(session, None, keys), steps),
              per_step(theirs(session, files, {
                  **keys, 'reader.data_loader': 'synthetic'}), steps))
             for _ in range(session.rounds(3))]
    we, they = (statistics.median(p[i] for p in pairs) for i in (0, 1))
    ratio = statistics.median((b - step_s) / max(a - step_s, 1e-7)
                              for a, b in pairs)
    return Row(f'no I/O, steps of {step_s * 1e3:g} ms, overhead of DLIO',
               '> 1 x that of weir', f'{ratio:,.0f} x', ratio > 1,
               [f'AU {step_s / we:.2%}, of DLIO {step_s / they:.2%}; overhead '
                f'per step {(we - step_s) * 1e6:.1f} us, of DLIO '
                f'{(they - step_s) * 1e6:,.0f} us'])


def npz_row(session):
    files = session.pick(NPZ_FILES, NPZ_FILES // 4, 16)
    steps = files // NPZ_BATCH
    keys = {'dataset.num_files_train': files, 'reader.batch_size': NPZ_BATCH,
            'train.epochs': EPOCHS, 'train.computation_time': 0}
    data = generated(session, f'dlio-npz-{files}',
                     {**keys, 'dataset.record_length': NPZ_BYTES})
    pairs = []
    for _ in range(session.rounds(3)):
        session.warm(os.path.join(data, 'train'))
        pairs.append((
            per_step(ours(session, data, {**keys, 'dataset.format': 'npz'},
                          '--consume', 'decode'), steps),
            per_step(theirs(session, data, {
                **keys, 'reader.data_loader': 'pytorch',
                'reader.read_threads': READERS}), steps)))
    we, they = (NPZ_BATCH / statistics.median(p[i] for p in pairs)
                for i in (0, 1))
    ratio = statistics.median(b / a for a, b in pairs)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    return Row(f'NPZ files of 1 MiB, batches of {NPZ_BATCH}, warm, samples/s',
               '> 1 x those of DLIO', f'{ratio:.1f} x', ratio > 1,
               [f'{we:,.0f} samples/s, decoded; DLIO with {READERS} workers '
                f'{they:,.0f}; the largest process of DLIO {most:,.0f} MB'])


def measure(session):
    program(session)
    # It takes long to start: one row shows that it works.
    rows = [step_row(session, *step) for step in STEPS if not session.smoke]
    rows.append(npz_row(session))
    session.save('run-dlio', [vars(r) for r in rows])
    return rows
