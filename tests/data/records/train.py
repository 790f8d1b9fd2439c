# train.py - a record of weir train, made by docs/formats/record.md.
# SPDX-License-Identifier: Apache-2.0
import math


def series(rng, iterations, every):
    out = {'merged': 1, 't_s': [], 'loss': [], 'wait_ms': [], 'step_ms': [],
           'save_ms': []}
    t = 0
    for i in range(iterations):
        wait = rng.uniform(0.1, 0.4) if i % 37 != 30 else 900
        step = 120 * rng.uniform(0.98, 1.02)
        save = 45 if (i + 1) % every == 0 else 0
        t += (wait + step + save) / 1e3
        out['t_s'].append(round(t, 4))
        out['loss'].append(round(5.7 * math.exp(-i / 60)
                                 + 0.1 * rng.random(), 4))
        out['wait_ms'].append(round(wait, 3))
        out['step_ms'].append(round(step, 3))
        out['save_ms'].append(save)
    return out


def train(record, rng):
    n, every = 150, 20
    rows = series(rng, n, every)
    steps = range(every, n + 1, every)
    seconds = rows['t_s'][-1] + 1.5
    record.update(
        dataset={'url': 'photos', 'format': 'images', 'samples': 6400,
                 'bytes': 90000000, 'files': 6400, 'classes': 102},
        accelerator={'name': 'cpu', 'step_ms': 120, 'source': ''},
        network={'name': 'alexnet', 'width': 0.25, 'parameters': 3000000,
                 'classes': 102, 'cols': 224, 'rows': 224,
                 'state_bytes': 36000000},
        settings={'iterations': n, 'epochs': 0, 'seed': 0, 'synthetic': False,
                  'engine': 'onednn', 'compute_threads': 2,
                  'learning_rate': 0.0005, 'batch': 32, 'prefetch': 1,
                  'threads': 2, 'holdout': 0.1},
        result={'resumed_at': 0, 'iterations': n, 'samples': n * 32,
                'samples_per_s': n * 32 / (seconds - 1.5), 'seconds': seconds,
                'wait_s': sum(rows['wait_ms']) / 1e3,
                'step_s': sum(rows['step_ms']) / 1e3,
                'save_s': sum(rows['save_ms']) / 1e3, 'save_max_s': 0.045,
                'validate_s': 1.5, 'flush_s': 0.3,
                'loss_first': rows['loss'][0], 'loss_last': 0.52,
                'accuracy': 0.412, 'chance': 1 / 102, 'held_out_loss': 2.1,
                'held_out': 640, 'saves': len(steps), 'limit': 'compute'},
        series=rows,
        validations=[{'iteration': i, 't_s': i * 0.12, 'seconds': 0.5,
                      'samples': 640, 'right': 2 * i,
                      'accuracy': round(2 * i / 640, 3),
                      'loss': round(5 * math.exp(-i / 120) + 0.6, 3)}
                     for i in (50, 100, 150)],
        saves=[{'step': i, 'bytes': 36000000, 't_s': i * 0.12,
                'stall_s': 0.045, 'blocked_s': 0, 'fast_s': 0.09,
                'slow_s': round(0.4 * rng.uniform(0.9, 1.1), 3)}
               for i in steps],
        compare={'input': {'images_per_s': 610, 'min': 600, 'max': 633,
                           'runs': 3},
                 'synthetic': {'images_per_s': 268, 'min': 262, 'max': 270,
                               'runs': 3},
                 'full': {'images_per_s': 259, 'min': 255, 'max': 261,
                          'runs': 3}},
        bad_count=0, bad=[], start_s=0.4)
    return record
