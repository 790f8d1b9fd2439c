# bars.py - runs the measurements and prints the table of bars.
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import sys

from lib import (accelerator, alike, before, checkpoint, convert, devices, dlio,
                 emulator, findings, first_batch, generate, hdf5, jpeg, learning,
                 million, monitor, mount, npz, options, page, plan_scale,
                 predict, prefetch, probe, ranks, reads, records, report, shares,
                 start, tensors, text, tiers, trace, trace_replay, trace_scale,
                 trace_torch, train, tuning)
from lib.session import Failure, Missing, Session, SKIPPED

# A measurement gives one or more rows of the table, in this order.
MEASUREMENTS = {
    'jpeg': (jpeg.measure, 'pictures from RAM and from the device'),
    'even': (jpeg.measure_gaps, 'gaps between batches'),
    'tensors': (tensors.measure, 'raw tensors'),
    'read': (reads.measure, 'reading only, against pread and fio'),
    'probe': (probe.measure, 'weir probe, against fio'),
    'prefetch': (prefetch.measure, 'prefetch with a consumer'),
    'accelerator': (accelerator.measure, 'steps of emulated accelerators'),
    'learning': (learning.measure, 'training a small network'),
    'records': (records.measure, 'TFRecord shards'),
    'npz': (npz.measure, 'NPZ files, against numpy.load'),
    'text': (text.measure, 'CSV and JSON lines, against pandas and json'),
    'hdf5': (hdf5.measure, 'HDF5 files, against h5py'),
    'cache': (tiers.measure, 'tiers of memory and folders'),
    'auto': (tuning.measure, 'threads, depth and prefetch by themselves'),
    'shares': (shares.measure, 'eight pipelines on one emulated disk'),
    'convert': (convert.measure, 'converting to TFRecord, against copying'),
    'generate': (generate.measure, 'generating data sets'),
    'million': (million.measure, 'indexing a million files'),
    'report': (page.measure, 'the page of fifty records'),
    'monitor': (monitor.measure, 'a long run that is watched'),
    'mount': (mount.measure, 'emulated devices, seen by fio'),
    'checkpoint': (checkpoint.measure, 'saving, restoring and draining'),
    'checkpoint-many': (checkpoint.many, 'saving when there are many steps'),
    'trace': (trace.measure, 'what weir trace costs a program'),
    'trace-scale': (trace_scale.measure, 'traces of millions of events'),
    'trace-torch': (trace_torch.measure, 'weir trace around PyTorch'),
    'trace-replay': (trace_replay.measure, 'replays, against the programs'),
    'trace-findings': (findings.measure, 'what findings of weir trace say, '
                       'against what mending gains'),
    'train': (train.measure, 'a step of training, against PyTorch'),
    'ranks': (ranks.measure, 'the end of a step with two ranks'),
    'run-steps': (emulator.measure, 'weir run without any I/O'),
    'run-devices': (devices.measure, 'weir run on emulated devices'),
    'run-million': (first_batch.measure, 'weir run on a million files'),
    'run-ranks': (alike.measure, 'weir run in one process and in ranks'),
    'run-dlio': (dlio.measure, 'weir run, against DLIO'),
    'plan-cells': (predict.measure, 'weir plan, against weir bench'),
    'plan-saves': (predict.measure_saves, 'weir plan, against saves'),
    'plan-scale': (plan_scale.measure, 'simulating a cluster'),
    'start': (start.measure, 'the start of the command'),
    'before': (before.measure, 'the pipeline, against an earlier weir'),
}


def parse(argv):
    p = options.common(
        'bench/run.sh', 'Measures how near weir comes to '
        'what this machine can do. Each row is measured '
        'side by side with what it is compared with, in rounds; medians '
        'count. Keep the machine idle meanwhile.')
    options.add_choice(p, '--only', 'ROW', list(MEASUREMENTS),
                       'measure only these')
    p.add_argument('--rows', action='store_true',
                   help='measure nothing, print what --only takes')
    p.add_argument('--seconds', type=int, metavar='N',
                   help='how long the watched run of \'monitor\' lasts '
                   '(default: 600; with --quick 20)')
    p.add_argument('--before', metavar='WEIR', help='an earlier weir, or its '
                   "build directory, that 'start' and 'before' compare with")
    options.add_choice(p, '--finding', 'CASE', findings.NAMES,
                       "of 'trace-findings', measure only these")
    options.add_choice(p, '--group', 'GROUP', list(before.GROUPS),
                       "of 'before', measure only these")
    p.add_argument('--match', metavar='TEXT', default='', help="of 'before', "
                   'measure only rows whose title has TEXT in it')
    p.add_argument('--most-rounds', type=int, metavar='N',
                   default=before.MOST_ROUNDS, help="of 'before', measure a "
                   'row so often at most (default: %(default)s)')
    args = p.parse_args(argv)
    if args.before and os.path.isdir(args.before):
        args.before = os.path.join(args.before, 'weir')
    return args


def measure(session, names, results):
    """Runs the measurements; the exit status: 1 when one failed, SKIPPED
    when what they are compared with is installed for none of them."""
    failed, missing = False, 0
    for name in names:
        function, title = MEASUREMENTS[name]
        session.say(f'{name}: {title}')
        try:
            rows = function(session)
        except Missing as e:
            session.say(f'{name}: left out: {e}')
            missing += 1
            continue
        except Failure as e:
            session.say(f'{name}: FAILED: {e}')
            failed = True
            continue
        results.host = session.host or results.host
        results.put(name, rows, session.load_at_start)
        results.save()
    if failed or (missing and not session.smoke):
        return 1
    return SKIPPED if missing == len(names) else 0


def main(argv):
    args = parse(argv)
    if args.rows:
        print('\n'.join(MEASUREMENTS))
        return 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    session = Session(args)
    session.before = args.before
    session.groups, session.match = args.group, args.match
    session.findings = (options.chosen(args.finding, findings.NAMES)
                        if args.finding else [])
    session.most_rounds = args.most_rounds
    session.watched_s = args.seconds or session.pick(600, 20, 3)
    status = 0
    try:
        results = report.Results(session.out, list(MEASUREMENTS),
                                 args.scale)
        if not args.last:
            names = options.chosen(args.only, MEASUREMENTS)
            session.start()
            status = measure(session, names, results)
            if args.only:
                results.keep(names)
        elif not results.rows:
            raise Failure(f'no results in {session.out}')
    except Failure as e:
        session.say(f'FAILED: {e}')
        return 1
    except KeyboardInterrupt:
        session.say('interrupted')
        return 130
    if session.smoke:
        session.say('a smoke test: the figures mean nothing')
    print(report.markdown(results) if args.markdown else report.text(results))
    if status:
        return status
    return 3 if args.strict and results.is_short() else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
