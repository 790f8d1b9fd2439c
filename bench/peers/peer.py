# peer.py - what all peers share: command line, clock and the JSON result.
# SPDX-License-Identifier: Apache-2.0
import argparse
import itertools
import json
import math
import resource
import time

MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


def setting(text):
    key, _, value = text.partition('=')
    return key, int(value) if value.lstrip('-').isdigit() else value


def parse():
    p = argparse.ArgumentParser()
    p.add_argument('--probe', action='store_true',
                   help='print the version, or fail')
    p.add_argument('--make', metavar='SOURCE',
                   help='make the data set DATA of the pictures in SOURCE')
    p.add_argument('--data')
    p.add_argument('--dtype', choices=['f32', 'u8'], default='f32')
    p.add_argument('--batch', type=int, default=64)
    p.add_argument('--size', default='224x224', help='WxH')
    p.add_argument('--set', type=setting, action='append', default=[],
                   metavar='KEY=VALUE', help='a setting of the peer')
    p.add_argument('--workers', type=int, help='as --set workers=N')
    p.add_argument('--epochs', type=int, default=1)
    p.add_argument('--batches', type=int, default=0,
                   help='stop after so many; 0: all')
    p.add_argument('--warm-up', type=int, default=8, metavar='BATCHES',
                   help='taken before, by an iterator of their own')
    p.add_argument('--started', type=float, default=0,
                   help='the monotonic clock when this was started')
    p.add_argument('--seed', type=int, default=0)
    args = p.parse_args()
    if not args.probe and not args.data:
        p.error('--data is needed')
    args.width, args.height = map(int, args.size.split('x'))
    args.settings = dict(args.set)
    if args.workers is not None:
        args.settings['workers'] = args.workers
    return args


def cpu_s():
    """Of this process and of its workers that have ended."""
    used = [resource.getrusage(who) for who in
            (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def quantile(values, q):
    ordered = sorted(values)
    return ordered[math.ceil(q * len(ordered)) - 1] if ordered else 0.0


def check(batch, args):
    """That it is what was asked for; one element of each sample is read."""
    dtype = str(batch.dtype).rpartition('.')[2]
    if dtype != {'f32': 'float32', 'u8': 'uint8'}[args.dtype]:
        raise ValueError(f'a batch of {dtype}')
    if sorted(batch.shape[1:]) != sorted((args.height, args.width, 3)):
        raise ValueError(f'a batch of {tuple(batch.shape)}')
    if not math.isfinite(float(batch[:, 0, 0, 0].sum())):
        raise ValueError('a batch that is not finite')
    return len(batch)


def consume(batches, args, limit):
    """Takes the batches: [(seconds since the start, samples)]."""
    times = []
    begin = time.monotonic()
    taken = itertools.islice(batches, limit) if limit else batches
    for batch in taken:
        times.append((time.monotonic() - begin, check(batch, args)))
    batches.close() # ends its workers
    return times


def measure(args, open_loader):
    loader = open_loader(args)
    warm_up = getattr(loader, 'warm_up', loader.batches)
    times = consume(warm_up(1), args, max(args.warm_up, 1))
    first_ever = time.monotonic() - times[-1][0] + times[0][0] - args.started
    before = cpu_s()
    times = consume(loader.batches(args.epochs), args, args.batches)
    used = cpu_s() - before
    at = [t for t, _ in times]
    gaps = [b - a for a, b in zip(at, at[1:])]
    samples = sum(n for _, n in times)
    return {
        'settings': args.settings, 'samples': samples, 'batches': len(times),
        'seconds': at[-1], 'samples_per_s': samples / at[-1],
        'cpu_s_per_1000': used * 1000 / samples,
        'first_batch_ms': at[0] * 1000,
        'first_ever_ms': first_ever * 1000 if args.started else None,
        'gap_p50_ms': quantile(gaps, 0.50) * 1000,
        'gap_p99_ms': quantile(gaps, 0.99) * 1000}


def main(version, open_loader, make=None):
    """open_loader(args) indexes the data set and returns an object whose
    batches(epochs) is a generator of arrays, one a batch: it starts the
    workers, and ends them when it is closed."""
    args = parse()
    if args.probe:
        print(json.dumps({'version': version}))
    elif args.make:
        make(args)
    else:
        print(json.dumps({'version': version,
                          **measure(args, open_loader)}))
