# run.py - records of weir run, made by docs/formats/record.md.
# SPDX-License-Identifier: Apache-2.0
#
# Three of them: eight accelerators on four ranks that are not fed, a search for
# how many can be, and a machine that is too slow for what it emulates.

SAMPLE = 146600628
STEP_S = 0.636
BATCH = 7


def config(**changes):
    return dict({
        'workload': 'unet3d_a100',
        'title': '3D U-Net of MLPerf Storage on A100', 'data': '/data/unet3d',
        'ranks': 4, 'accelerators': 8, 'consume': 'read', 'order': 'shuffle',
        'access': 'multi', 'read_type': 'on_demand', 'compat': 'weir',
        'batch': BATCH, 'format': 'npz', 'files': 1344, 'samples': 1344,
        'epochs': 5, 'steps': 24, 'step_s': STEP_S, 'step_law': 'fixed',
        'au_target': 0.9, 'scale': 1.0, 'threads': 2, 'depth': 8,
        'prefetch': 2, 'cache': 'none', 'no_io': False}, **changes)


def demand(samples):
    rate = BATCH / STEP_S
    return {'bytes_per_s': rate * SAMPLE, 'samples_per_s': rate,
            'files_per_s': rate, 'sample_bytes': SAMPLE,
            'dataset_bytes': samples * SAMPLE}


def bins(start, counts):
    return [{'from': start << i, 'to': start << (i + 1), 'count': n}
            for i, n in enumerate(counts)]


def epoch(rng, number, au, accelerators):
    seconds = 24 * STEP_S / au
    samples = 24 * BATCH * accelerators
    return {'epoch': number, 'seconds': seconds, 'steps': 24,
            'samples': samples, 'bytes': samples * SAMPLE, 'au': au,
            'au_dlio': au + 0.011, 'samples_per_s': samples / seconds,
            'bytes_per_s': samples * SAMPLE / seconds,
            'resident': None if number == 1 else 0.02,
            'wait_s': seconds * (0.95 - au), 'eval_s': 0, 'save_s': 0}


def series(rng, steps, wait_ms):
    out = {'merged': 1, 't': [], 'wait_ms': [], 'step_ms': [], 'mb_per_s': [], 'au': []}
    t = 0
    for i in range(steps):
        wait = wait_ms * rng.uniform(0.2, 1.4) * (6 if i % 29 == 20 else 1)
        t += STEP_S + wait / 1e3
        out['t'].append(round(t, 3))
        out['wait_ms'].append(round(wait, 3))
        out['step_ms'].append(
            round(wait + STEP_S * 1e3 * rng.uniform(1, 1.002), 3))
        out['mb_per_s'].append(
            round(8 * BATCH * SAMPLE / 1e6 / (STEP_S + wait / 1e3), 1))
        out['au'].append(round(STEP_S / (STEP_S + wait / 1e3), 4))
    return out


def run(record, rng, scale=1.0, accelerators=8):
    au = [min(0.98, scale * v) for v in (0.803, 0.814, 0.811, 0.818, 0.815)]
    epochs = [epoch(rng, i + 1, v, accelerators) for i, v in enumerate(au)]
    seconds = sum(e['seconds'] for e in epochs)
    mean = 5 * 24 * STEP_S / seconds
    rate = sum(e['bytes'] for e in epochs) / seconds
    lost = 1 - mean
    record.update(
        config=config(), demand=demand(1344),
        selftest={'au': 0.9993, 'overhead_us': 0.4, 'steps': 500, 'ok': True},
        epochs=epochs,
        result={'au': mean, 'au_dlio': mean + 0.011, 'meets': mean >= 0.9,
                'samples_per_s': rate / SAMPLE,
                'bytes': sum(e['bytes'] for e in epochs), 'bytes_per_s': rate,
                'nominal_bytes_per_s': rate, 'seconds': seconds,
                'samples': sum(e['samples'] for e in epochs), 'steps': 120,
                'dlio_samples_per_s': rate / SAMPLE * 1.02, 'load_s': 0,
                'cpu_s_per_gb': 0.31, 'resident': 0.02, 'peak_bytes': 2100000000,
                'first_batch_ms': 840},
        loss={'compute': mean, 'read': lost * 0.63, 'barrier': lost * 0.28,
              'save': lost * 0.06, 'eval': 0, 'emulator': lost * 0.03},
        input={'io': 'io_uring', 'verdict': 'storage-bound',
               'times': {'storage_wait_s': 61, 'submit_s': 3, 'decode_s': 11,
                         'resample_s': 0, 'idle_s': 7, 'consumer_wait_s': 18,
                         'consumer_busy_s': 77}},
        reads={'count': 3844800, 'errors': 0, 'opens': 6720, 'bytes': sum(e['bytes'] for e in epochs),
               'p50_us': 2100, 'p95_us': 14000, 'p99_us': 38000,
               'max_us': 410000, 'usual_bytes': 262144, 'mean_bytes': 258400,
               'sequential': 0.98, 'consecutive': 0.95, 'io_share': 0.97,
               'sizes': bins(4096, [1, 0, 40, 90, 2000, 41000, 3800000, 1700]),
               'latencies': bins(1 << 16, [900, 12000, 160000, 700000, 1250000,
                                      940000, 500000, 200000, 60000, 20000,
                                      1600, 400])},
        batches={'wait_p50_ms': 92, 'wait_p95_ms': 160, 'wait_p99_ms': 720,
                 'wait_max_ms': 1010, 'stalls': 921, 'steps': 960},
        ranks=[{'rank': i, 'host': 'node%d' % (i // 2), 'accelerators': 2,
                'seconds': seconds, 'au': mean, 'wait_s': wait,
                'barrier_s': 17 - wait, 'bytes': int(rate * seconds / 4),
                'samples': 840, 'peak_bytes': 510000000 + i}
               for i, wait in enumerate((9.1, 10.2, 9.6, 15.8))],
        saves=[{'step': 48 * (i + 1), 'at_s': 38.0 * (i + 1), 'bytes': 4400000000,
                'stall_s': 0.5 + 0.1 * i, 'fast_s': 1.9, 'slow_s': 14.0 + i}
               for i in range(2)],
        restores=[{'step': 96, 'seconds': 3.4, 'bytes': 4400000000}],
        series=series(rng, 120, 120),
        seed={'source': 'the analysis of ten workloads', 'io_percent': 91,
              'request_bytes': 262144, 'sequential_percent': 100,
              'consecutive_percent': 96, 'bytes_per_s': 1.2e8,
              'step_s': 0.81, 'ranks': 8},
        search=None, start_s=0.2, bad_count=0, bad=[])
    return record


def run_search(record, rng):
    run(record, rng, 1.14, 6)
    points = [(1, 0.992), (2, 0.989), (4, 0.967), (8, 0.806), (6, 0.923),
              (7, 0.868)]
    record['config'] = config(accelerators=6, ranks=1)
    record['search'] = {
        'target': 0.9, 'most': 6, 'limit': 'storage',
        'points': [{'accelerators': n, 'au': au, 'meets': au >= 0.9,
                    'samples_per_s': n * au * BATCH / STEP_S,
                    'bytes_per_s': n * au * BATCH / STEP_S * SAMPLE}
                   for n, au in sorted(points)]}
    record.update(seed=None, ranks=[], restores=[])
    record['loss']['compute'] += record['loss']['barrier']
    record['loss']['barrier'] = 0
    return record


def run_slow(record, rng):
    run(record, rng)
    record['config'] = config(accelerators=64, ranks=1, epochs=1,
                              workload='resnet50_h100', step_s=0.224,
                              data='/data/resnet')
    record['demand']['dataset_bytes'] = 1.2e10
    record['epochs'] = record['epochs'][:1]
    record['selftest'] = {'au': 0.912, 'overhead_us': 21600, 'steps': 500,
                          'ok': False}
    record['result'].update(resident=0.41, au=0.702, meets=False)
    record['loss'] = {'compute': 0.702, 'read': 0.05, 'barrier': 0, 'save': 0,
                      'eval': 0.014, 'emulator': 0.234}
    record['epochs'][0].update(resident=0.41, au=0.702, eval_s=1.3)
    record.update(seed=None, ranks=[], saves=[], restores=[],
                  cores={'count': 2, 'own': 1.9, 'others': 0.1, 'idle': 0,
                         'stolen': 0, 'throttled': 0, 'starved': False})
    return record
