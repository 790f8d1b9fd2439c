# peer.py - what all peers share: command line, clock and the JSON result.
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import math
import resource
import time


def parse():
    p = argparse.ArgumentParser()
    p.add_argument('--probe', action='store_true')
    p.add_argument('--data')
    p.add_argument('--batch', type=int, default=64)
    p.add_argument('--size', default='224x224', help='WxH')
    p.add_argument('--workers', type=int, default=0)
    p.add_argument('--batches', type=int, default=0, help='0: one epoch')
    p.add_argument('--seed', type=int, default=0)
    args = p.parse_args()
    if not args.probe and not args.data:
        p.error('--data is needed')
    args.width, args.height = map(int, args.size.split('x'))
    return args


def cpu_s():
    used = [resource.getrusage(who) for who in
            (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def quantile(values, q):
    ordered = sorted(values)
    return ordered[math.ceil(q * len(ordered)) - 1] if ordered else 0.0


def consume(loader, limit):
    """Takes the batches: [(seconds since the start, samples)], and the shape
    and type of the first."""
    times, kind = [], None
    begin = time.monotonic()
    for batch in loader:
        times.append((time.monotonic() - begin, len(batch)))
        kind = kind or f'{tuple(batch.shape)} {batch.dtype}'
        if len(times) == limit:
            break
    return times, kind


def main(name, version, open_loader):
    """open_loader(args) indexes the data set and returns an object whose
    iterator starts the workers and gives arrays of one batch each."""
    args = parse()
    if args.probe:
        print(json.dumps({'peer': name, 'version': version}))
        return
    loader = open_loader(args)
    before = cpu_s()
    times, kind = consume(loader, args.batches)
    used = cpu_s() - before # the workers ended with their iterator
    at = [t for t, _ in times]
    gaps = [b - a for a, b in zip(at, at[1:])]
    samples = sum(n for _, n in times)
    print(json.dumps({
        'peer': name, 'version': version, 'workers': args.workers,
        'batch': kind, 'samples': samples, 'batches': len(times),
        'seconds': at[-1], 'samples_per_s': samples / at[-1],
        'cpu_s_per_1000': used * 1000 / samples,
        'first_batch_ms': at[0] * 1000,
        'gap_p50_ms': quantile(gaps, 0.50) * 1000,
        'gap_p99_ms': quantile(gaps, 0.99) * 1000}))
