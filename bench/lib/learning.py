# learning.py - whether the network learns, and what it knows of the rest.
# SPDX-License-Identifier: Apache-2.0
#
# Pictures like Caltech-101's, of 102 classes; a tenth is held out. The loss is
# that of the training batches, the accuracy that of samples never trained on.
import json

from lib.report import Row

LOSS_BAR = 0.1 # of the first loss
ACCURACY_BAR = 10 # times what guessing reaches
ITERATIONS, BATCH, WIDTH, RATE = 150, 32, 0.25, 0.0005


def train(session, data, *options):
    path = session.record_path('learning')
    session.run([session.weir, 'train', data, '-o', path, '-i',
                 str(session.pick(ITERATIONS, ITERATIONS, 1)), '-b',
                 str(session.pick(BATCH, BATCH, 4)), '--width', str(WIDTH),
                 '--learning-rate', str(RATE), *options])
    with open(path, encoding='utf-8') as f:
        record = json.load(f)
    session.host = record['host']
    return record


def measure(session):
    data = session.data_set('caltech101', session.pick(512, 512, 24))
    record = train(session, data)
    r, s = record['result'], record['settings']
    loss = r['loss_last'] / r['loss_first']
    times = r['accuracy'] / r['chance']
    name = f'AlexNet, width {WIDTH}, {s["engine"]}: '
    return [Row(f'{name}loss after {r["iterations"]} iterations',
                f'< {LOSS_BAR:.0%} of the first', f'{loss:.1%}',
                loss < LOSS_BAR,
                [f'{r["loss_first"]:.2f} to {r["loss_last"]:.2f}, batch '
                 f'{s["batch"]}, learning rate {RATE}, '
                 f'{r["samples_per_s"]:.0f} images/s']),
            Row(f'{name}held-out accuracy',
                f'> {ACCURACY_BAR} x chance', f'{r["accuracy"]:.1%}',
                times > ACCURACY_BAR,
                [f'of {r["held_out"]} samples; chance {r["chance"]:.1%}'])]
