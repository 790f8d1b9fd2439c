# seed.py - ten scientific trainings, scaled down: their reports have the columns
# of the analysis that describes them, and come to its suggestions.
# SPDX-License-Identifier: Apache-2.0
#
# usage: seed.py WEIR BENCH [--record FOLDER | --recorded FOLDER] [NAME...]
#        BENCH: the folder of benchmarks
#
# What is found depends on the time that calls take: `make test` reports traces
# that were recorded on an idle machine (--record keeps them, --recorded reports
# them), `make check-full` runs the programs.
#
# Each function does with files what the analysis saw of a workload (sizes and
# order of requests, files, ranks, checkpoints), on an emulated Lustre. weir run
# has the same workloads, but reads by io_uring, which a trace only counts.
# Exit code 77: mounting is not possible here.
import os
import re
import subprocess
import sys
import tempfile
import time

KIB, MIB = 1 << 10, 1 << 20


# --- the programs: seed.py --do NAME DATA ---

def forget(path):
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def ranks(count, body):
    """Runs the body in as many processes, as a launcher would."""
    if 'RANK' in os.environ:
        body(int(os.environ['RANK']))
        return
    children = [subprocess.Popen([sys.executable, *sys.argv],
                                 env=dict(os.environ, RANK=str(r),
                                          WORLD_SIZE=str(count)))
                for r in range(count)]
    for child in children:
        if child.wait():
            sys.exit('a rank failed')


def records(data, count, rank, world, compute_s, epochs=1):
    """TFRecord files, each rank its own: from the start on, 256 KiB at once."""
    for _ in range(epochs):
        for i in range(rank, count, world):
            path = os.path.join(data, f'train-{i:03}.tfrecord')
            fd = os.open(path, os.O_RDONLY)
            while os.read(fd, 256 * KIB):
                time.sleep(compute_s)
            os.close(fd)
            forget(path)


def imagenet(data):
    ranks(2, lambda rank: records(data, 12, rank, 2, 0.004, epochs=2))


def cosmoflow(data):
    ranks(2, lambda rank: records(data, 12, rank, 2, 0.002))


def cosmic_tagger(data):
    """One HDF5 file; every rank the same places, 2 and 6 KiB, one on the next."""
    def body(rank):
        for _ in range(2):
            fd = os.open(os.path.join(data, 'train.h5'), os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
            for _ in range(50):
                os.read(fd, 13 * KIB)
            for k in range(160):
                os.read(fd, (2 if k % 2 else 6) * KIB)
                if k % 16 == 15:
                    time.sleep(0.02)
            os.close(fd)
            forget(os.path.join(data, 'train.h5'))
    ranks(2, body)


def ffn(data):
    """Random images of 28 KiB, the same on every rank."""
    def body(rank):
        import random
        for epoch in range(2):
            fd = os.open(os.path.join(data, 'train.h5'), os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
            for k in random.Random(epoch).sample(range(256), 256):
                os.pread(fd, 28 * KIB, k * 28 * KIB)
                if k % 4 == 3:
                    time.sleep(0.004)
            os.close(fd)
            forget(os.path.join(data, 'train.h5'))
    ranks(2, body)


def climate(data):
    """Statistics in pieces at the start, three JSON files at the end."""
    fd = os.open(os.path.join(data, 'stats.h5'), os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    for k in range(50):
        os.pread(fd, 10, k * 17 % 50 * 4 * KIB)
    os.close(fd)
    time.sleep(0.5)
    for k in range(3):
        with open(os.path.join(data, f'out{k}.json'), 'wb', buffering=0) as f:
            f.write(bytes(4 * MIB))


def candle(data):
    """All of a CSV file at the start, by every rank; then only computing."""
    def body(rank):
        fd = os.open(os.path.join(data, 'train.csv'), os.O_RDONLY)
        while os.read(fd, 256 * KIB):
            pass
        os.close(fd)
        time.sleep(1.5)
    ranks(2, body)


def l2hmc(data):
    """No input; a checkpoint of four files now and then."""
    for k in range(3):
        time.sleep(0.2)
        for name, size in (('checkpoint', KIB), ('graph.pbtxt', 7 * MIB),
                           ('model.data', 32 * MIB), ('model.meta', 5 * KIB)):
            with open(os.path.join(data, f'{name}-{k}'), 'wb',
                      buffering=0) as f:
                f.write(bytes(size))


def bert(data):
    """A small TSV file, line by line into memory; then only computing."""
    with open(os.path.join(data, 'train.tsv'), encoding='utf-8') as f:
        samples = [line.split('\t') for line in f]
    assert len(samples) == 3600
    time.sleep(1)


def mmaadsp(data):
    """A data set of one HDF5 file, read as a whole."""
    with open(os.path.join(data, 'train.h5'), 'rb') as f:
        assert f.read()
    time.sleep(1)


def frnn(data):
    """One NPZ file per step, read at once."""
    import numpy
    for k in range(8):
        with numpy.load(os.path.join(data, f'shot{k}.npz')) as shot:
            assert shot['signal'].size
        time.sleep(0.2)


# --- what is expected of each ---

def shards(folder):
    for i in range(12):
        with open(os.path.join(folder, f'train-{i:03}.tfrecord'), 'wb') as f:
            f.write(bytes(2 * MIB))


def one(name, size):
    def make(folder):
        with open(os.path.join(folder, name), 'wb') as f:
            f.write(bytes(size))
    return make


def lines(folder):
    with open(os.path.join(folder, 'train.tsv'), 'w', encoding='utf-8') as f:
        f.write(('1\t' + 'word ' * 39 + '\n') * 3600)


def shots(folder):
    import numpy
    for k in range(8):
        numpy.savez(os.path.join(folder, f'shot{k}.npz'),
                    signal=numpy.zeros(50_000, 'f4'))


def nothing(folder):
    pass


# Workload: its data; what the analysis suggests, as findings; words of the report
# (what it saw); what must not be said. A suggestion that costs less than can be
# measured (BERT: 0.02 s) is not made.
WORKLOADS = {
    # stripe against request, prefetching, read parallelism, RAM
    'imagenet': (imagenet, shards, {'S01', 'D01', 'D07'},
                 ['each rank has files of its own', '100.0 % consecutive',
                  '100.0 % of reads ask for 262144 bytes', '2.00 times',
                  r'to 25.2 MB per rank', 'num_parallel_calls'],
                 {'S02', 'D05', 'D12'}),
    # bigger transfers, memory, threads, one portion for each rank
    'cosmic_tagger': (cosmic_tagger, one('train.h5', 1290 * KIB),
                      {'D08', 'D07', 'S02'},
                      ['ranks share files and read the same places',
                       'of reads ask for 2048 bytes',
                       'of reads ask for 6144 bytes'], {'S04'}),
    # bigger transfers, staging, threads, one portion for each rank
    'ffn': (ffn, one('train.h5', 7 * MIB), {'S01', 'D07', 'S02'},
            ['ranks share files and read the same places',
             'of reads ask for 28672 bytes', 'read here and there'], set()),
    # the statistics in one call
    'climate': (climate, one('stats.h5', 200 * KIB), {'S04'},
                [r'4 MiB +3 '], {'D08', 'D01'}),
    # buffer size, parallel reads, prefetching
    'cosmoflow': (cosmoflow, shards, {'S01', 'D01'},
                  ['each rank has files of its own', '100.0 % consecutive'],
                  {'S02', 'D07'}),
    # nothing: less than 1 % of the time
    'candle': (candle, one('train.csv', 2 * MIB), set(),
               ['ranks share files and read the same places',
                'of reads ask for 262144 bytes'], None),
    # checkpoints to a local disk
    'l2hmc': (l2hmc, nothing, {'S06'}, ['other saves', 'main thread waits'], {'D15'}),
    'bert': (bert, lines, set(), ['one file, read one request behind'], None),
    'mmaadsp': (mmaadsp, one('train.h5', 6 * MIB), set(), ['1 files'], None),
    'frnn': (frnn, shots, set(), ['8 files', 'Files read once +100.0 %'], None),
}
COLUMNS = ['I/O takes [0-9.]+ %']
READS = ['files, .* read', '% sequential', '% consecutive', 'Each request',
         'File access +', 'Reads of the data set by size',
         'Calls and their times', 'metadata calls', 'Phases']


def trace_of(bench, name, keep):
    source = os.path.join(bench.folder, name)
    trace = os.path.join(keep or bench.folder, name + '.wtrace')
    os.mkdir(source)
    WORKLOADS[name][1](source)
    with bench.mounted('lustre', source, source + '-at') as data:
        bench.run(bench.weir, 'trace', '-q', '-o', trace, '--', sys.executable,
                  '-B', os.path.abspath(__file__), '--do', name, data)
    return trace


def check(bench, name, trace):
    _, _, wanted, words, unwanted = WORKLOADS[name]
    text = bench.run(bench.weir, 'report', trace)
    flat = re.sub(r'\s+', ' ', text)
    codes = set(re.findall(r'^([DS]\d\d): ', text, re.M))
    wrong = [f'{code} is missing' for code in wanted - codes]
    wrong += [f'{code} is not to be said' for code in
              (codes if unwanted is None else codes & unwanted)]
    wrong += [f"'{word}' is not in the report" for word in COLUMNS + words
              + ([] if name == 'l2hmc' else READS)
              if not re.search(word, text) and not re.search(word, flat)]
    print(f'{name}: {sorted(codes)}', flush=True)
    if wrong:
        print(text)
    return [f'{name}: {w}' for w in wrong]


def main():
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.abspath(sys.argv[2]))
    from lib.faults import Bench

    wrong, names = [], sys.argv[3:]
    how = kept = None
    if names and names[0].startswith('--'):
        how, kept, *names = names
    with tempfile.TemporaryDirectory(prefix='weir-seed-') as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), folder, compensate=False)
        if how == '--recorded':
            for name in names or WORKLOADS:
                wrong += check(bench, name,
                               os.path.join(kept, name + '.wtrace'))
            print('\n'.join(wrong))
            return 1 if wrong else 0
        os.mkdir(os.path.join(folder, 'try'))
        try:
            with bench.mounted('lustre', os.path.join(folder, 'try'),
                               os.path.join(folder, 'try-at')):
                pass
        except RuntimeError as e:
            print(e)
            return 77
        for name in names or WORKLOADS:
            wrong += check(bench, name, trace_of(bench, name, kept))
    print('\n'.join(wrong))
    return 1 if wrong else 0


if __name__ == '__main__':
    if sys.argv[1] == '--do':
        WORKLOADS[sys.argv[2]][0](sys.argv[3])
    else:
        sys.exit(main())
