# distinct.py - a record whose numbers all differ, as tests of tables want it.
# SPDX-License-Identifier: Apache-2.0
#
# Two columns that change places, or a key that is read for another, then change
# what is shown. Lists become short, to keep what is shown small; numbers have
# few digits, so that no library of mathematics shows in them.

LONG, CUT = 6, 28  # of a long list rows CUT ... CUT + LONG: one is a stall
KEPT = {'version', 'merged', 'rotational', 'epoch', 'rank', 'from', 'to',
        'to_bytes', 'below_s', 'period', 'phase', 'at_s', 't_s', 'from_s',
        'to_s', 'start_s', 'hz', 'target', 'seed', 'warm_up_runs', 'spans',
        'labels', 'settings', 'in_force', 'parts', 'depth', 'workers', 'block',
        'resumed_at', 'iteration', 'step', 'nodes', 'au_target'}
# What is 0, null or missing in the records, and shown if it is not.
ADDED = {
    'of_decode_limit': 0.71, 'of_read_limit': 0.53, 'decode_limit_per_s': 2610,
    'read_limit_per_s': 3370, 'read_limit_threads': 11, 'resident': 0.037,
    'eval_s': 1.31, 'save_s': 0.77, 'slot_limit_per_s': 0}


def short(value, key=''):
    """The value with the long lists cut."""
    if isinstance(value, dict):
        return {k: short(v, k) for k, v in value.items()}
    if not isinstance(value, list) or key == 'spans':
        return value
    if len(value) > LONG and key != 'tests': # of each kind some
        start = CUT if len(value) >= CUT + LONG and not isinstance(
            value[0], dict) else 0
        value = value[start:start + LONG]
    return [short(v) for v in value]


def rounded(value):
    if isinstance(value, float):
        return float('%.6g' % value)
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, list) else value


class Numbers:
    def __init__(self):
        self.count = 0
        self.seen = set()

    def other(self, value):
        """A number near it that was not there before."""
        if isinstance(value, int) and abs(value) < 10:
            return value  # there are not many near it
        for tries in range(1000):
            self.count += 1
            new = value * (0.8 + 0.2 * (self.count * 0.618034 % 1))
            new = float('%.4g' % new)
            if isinstance(value, int):
                new = round(new) if tries < 20 else value + tries
            if new not in self.seen:
                self.seen.add(new)
                return new
        raise ValueError(value)

    def apply(self, value, key=''):
        if key in KEPT or isinstance(value, (bool, str)):
            return value
        if isinstance(value, dict):
            return {k: self.apply(ADDED.get(k, v) if v in (0, None) and
                                  not isinstance(v, bool) else v, k)
                    for k, v in value.items()}
        if isinstance(value, list):  # columns are random already
            return [self.apply(v) if isinstance(v, dict) else v for v in value]
        return self.other(value) if value else value


def more_of_probe(record):
    mix = [dict(t, block=0, pattern='random', depth=d, name='mix %d' % d)
           for t, d in zip(record['tests'][2:], (1, 8))]
    record['tests'] += mix + [dict(mix[0], workers=4, name='mix 4x1')]
    record['saturation'].append({
        'op': 'write', 'pattern': 'sequential', 'block': 65536, 'workers': 3,
        'direct': False, 'depth': 16, 'reached': False, 'ops_per_s': 71.5,
        'bytes_per_s': 4.7e6})
    record['saturation'][0]['bytes_per_s'] = 1.63e8


def more_of_train(record):
    record['settings'].update(slow='/lustre/ckpt', ckpt='/nvme/ckpt', depth=8,
                              save_every=20, level='durable', keep=3,
                              split_seed=5, decode='fast')
    record['result'].update(resumed_at=7, first_wait_s=0.31, most_common=0.23,
                            weights_digest='0123456789abcdef')
    record['input'] = {'verdict': 'decode-bound', 'prefetch': 1}
    for save in record['saves']:
        save.update(blocked_s=0.017, verified_s=save['slow_s'] + 0.21)
    if 'compare' in record:
        record['compare'].update(
            cost={'median': 0.034, 'min': 0.029, 'max': 0.041}, rounds=3,
            iterations=40)


def less_of_run(record):
    """A search without evaluations and slow tier; a slow machine that saves not."""
    for epoch in record['epochs']:
        if record['search']:
            del epoch['eval_s']
        if not record['selftest']['ok']:
            del epoch['save_s']
    for save in record['saves'] if record['search'] else []:
        del save['slow_s']


def more(record):
    """What records may hold, and those of make.py do not."""
    {'probe': more_of_probe, 'train': more_of_train, 'run': less_of_run}.get(
        record['command'], lambda _: None)(record)
    return record


def distinct(record):
    return rounded(Numbers().apply(short(more(record))))


# What a comparison says is not the same.
CONDITIONS = {
    'weir': '0.0.9', 'device_profile': 'hdd', 'path': 'elsewhere',
    'file': 'big', 'file_bytes': 77, 'small_files': 88, 'seconds': 9.5,
    'engine': 'blocking', 'consumer_ms': 3.5, 'host': {
        'name': 'guest', 'kernel': 'Linux 7', 'cpu': 'Another', 'cores': 64,
        'memory_bytes': 3 << 30, 'file_system': {
            'type': 'xfs', 'source': '/dev/nvme0n1', 'device': 'nvme0n1',
            'model': 'FLASH'}},
    'sizes': {'name': 'coco'}, 'accelerator': {'name': 'H100'},
    'dataset': {'url': 'films', 'format': 'tar', 'samples': 77, 'bytes': 555}}


def elsewhere(record, conditions=None):
    """The same, measured under other conditions."""
    for key, value in (conditions or CONDITIONS).items():
        if isinstance(value, dict) and key in record:
            elsewhere(record[key], value)
        elif key in record or key in ('device_profile', 'file', 'accelerator'):
            record[key] = value
    return record
