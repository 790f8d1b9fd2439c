# traced_program.py - small programs that read as trainings do, to be traced.
# SPDX-License-Identifier: Apache-2.0
#
# usage: traced_program.py KIND FOLDER
import multiprocessing
import os
import random
import sys
import time

WORKERS, BATCH = 4, 8


def compute(seconds):
    """Busy, as a decoder is."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def names_of(folder):
    with open(os.path.join(folder, 'list.txt'), encoding='utf-8') as f:
        return [os.path.join(folder, line.strip()) for line in f]


def read_file(path):
    with open(path, 'rb') as f:
        data = f.read()
    compute(2e-4)
    return len(data)


def small(folder):
    """One thread, file after file, in random order."""
    names = names_of(folder)
    random.Random(1).shuffle(names)
    for i, name in enumerate(names):
        read_file(name)
        if i % BATCH == BATCH - 1:
            time.sleep(0.005)


def work(names, tasks, results):
    for batch in iter(tasks.get, None):
        results.put(sum(read_file(names[i]) for i in batch))


def workers(folder):
    """Processes that read batches, each two ahead of the one who asks."""
    context = multiprocessing.get_context('fork')
    names = names_of(folder)
    order = list(range(len(names)))
    random.Random(2).shuffle(order)
    batches = [order[i:i + BATCH] for i in range(0, len(order), BATCH)]
    tasks = [context.Queue() for _ in range(WORKERS)]
    results = [context.Queue() for _ in range(WORKERS)]
    children = [context.Process(target=work, args=(names, *queues))
                for queues in zip(tasks, results)]
    for child in children:
        child.start()
    for i in range(min(2 * WORKERS, len(batches))):
        tasks[i % WORKERS].put(batches[i])
    for i in range(len(batches)):
        results[i % WORKERS].get()
        ahead = i + 2 * WORKERS
        if ahead < len(batches):
            tasks[i % WORKERS].put(batches[ahead])
        time.sleep(0.002)
    for queue in tasks:
        queue.put(None)
    for child in children:
        child.join()


def big(folder):
    """Big files from beginning to end, in pieces of 256 KiB and of 8 KiB."""
    for name, piece in (('big0', 256 << 10), ('big1', 8 << 10)):
        with open(os.path.join(folder, name), 'rb', buffering=0) as f:
            while f.read(piece):
                pass


def scattered(folder):
    """Records of one big file in random order."""
    rng = random.Random(3)
    fd = os.open(os.path.join(folder, 'big0'), os.O_RDONLY)
    size = os.fstat(fd).st_size
    for _ in range(len(names_of(folder)) // 2):
        length = rng.choice((4096, 20_000, 100_000))
        os.pread(fd, length, rng.randrange(max(size - length, 1)))
        compute(1e-4)
    os.close(fd)


KINDS = {'small': small, 'workers': workers, 'big': big,
         'scattered': scattered}

if __name__ == '__main__':
    KINDS[sys.argv[1]](sys.argv[2])
