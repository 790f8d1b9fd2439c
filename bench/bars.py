# bars.py - runs the measurements and prints the table of bars.
# SPDX-License-Identifier: Apache-2.0
import argparse
import signal
import sys

from lib import (checkpoint, convert, jpeg, million, monitor, mount, page,
                 prefetch, probe, reads, records, report, tensors, tiers,
                 tuning)
from lib.session import Failure, Session

# A measurement gives one or more rows of the table, in this order.
MEASUREMENTS = {
    'jpeg': (jpeg.measure, 'pictures from RAM and from the device'),
    'even': (jpeg.measure_gaps, 'gaps between batches'),
    'tensors': (tensors.measure, 'raw tensors'),
    'read': (reads.measure, 'reading only, against pread and fio'),
    'probe': (probe.measure, 'weir probe, against fio'),
    'prefetch': (prefetch.measure, 'prefetch with a consumer'),
    'records': (records.measure, 'TFRecord shards'),
    'cache': (tiers.measure, 'tiers of memory and folders'),
    'auto': (tuning.measure, 'threads, depth and prefetch by themselves'),
    'convert': (convert.measure, 'converting to TFRecord, against copying'),
    'million': (million.measure, 'indexing a million files'),
    'report': (page.measure, 'the page of fifty records'),
    'monitor': (monitor.measure, 'a long run that is watched'),
    'mount': (mount.measure, 'emulated devices, seen by fio'),
    'checkpoint': (checkpoint.measure, 'saving, restoring and draining'),
}


def parse(argv):
    p = argparse.ArgumentParser(
        prog='bench/run.sh', description='Measures how near weir comes to '
        'what this machine can do. Each row is measured '
        'side by side with what it is compared with, in rounds; medians '
        'count. Keep the machine idle meanwhile.',
        epilog='Exit: 0 measured, 1 something failed to run, 2 wrong usage, '
        '3 a bar was missed (with --strict).')
    p.add_argument('build', nargs='?', default='build', metavar='BUILD',
                   help='build directory, with weir inside (default: build)')
    p.add_argument('--only', action='append', metavar='ROW', default=[],
                   choices=list(MEASUREMENTS),
                   help='measure only this; may be repeated ('
                   + ', '.join(MEASUREMENTS) + ')')
    p.add_argument('--quick', action='store_true',
                   help='few samples and rounds: a smoke test, no figures')
    p.add_argument('--seconds', type=int, metavar='N',
                   help='how long the watched run of \'monitor\' lasts '
                   '(default: 600; with --quick 20)')
    p.add_argument('--data', metavar='DIR', help='where the data sets are '
                   'kept, generated once (default: OUT/data)')
    p.add_argument('--out', metavar='DIR', help='where the records and '
                   'results.json are written (default: BUILD/bench)')
    p.add_argument('--last', action='store_true',
                   help='measure nothing, print the last results')
    p.add_argument('--markdown', action='store_true',
                   help='print the table as Markdown')
    p.add_argument('--strict', action='store_true',
                   help='exit with 3 when a bar was missed')
    return p.parse_args(argv)


def measure(session, names, results):
    """Runs the measurements; True when all could be run."""
    complete = True
    for name in names:
        function, title = MEASUREMENTS[name]
        session.say(f'{name}: {title}')
        try:
            rows = function(session)
        except Failure as e:
            session.say(f'{name}: FAILED: {e}')
            complete = False
            continue
        results.host = session.host or results.host
        results.put(name, rows, session.load_at_start)
        results.save()
    return complete


def main(argv):
    args = parse(argv)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    session = Session(args)
    complete = True
    try:
        results = report.Results(session.out, list(MEASUREMENTS),
                                 args.quick)
        if not args.last:
            names = [n for n in MEASUREMENTS if not args.only or n in args.only]
            session.start()
            complete = measure(session, names, results)
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
    print(report.markdown(results) if args.markdown else report.text(results))
    if not complete:
        return 1
    return 3 if args.strict and results.is_short() else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
