# faulty.py - for each finding of weir trace a program that has the fault, and the
# same one mended as the finding says.
# SPDX-License-Identifier: Apache-2.0
#
# usage: faulty.py NAME faulty|mended DATA SCRATCH COUNT
#
# DATA was made by lib/faults.py, mostly on an emulated slow device; SCRATCH is a
# local folder. A GPU that computes is a sleep: no core is busy meanwhile.
import ctypes
import mmap
import multiprocessing
import os
import platform
import random
import sys
import threading
import time

KIB, MIB = 1 << 10, 1 << 20
READV_CALL = 19 if platform.machine() == 'x86_64' else 65 # of Linux


class Program:
    """What a program was asked for."""

    def __init__(self, argv):
        self.name, state, self.data, self.scratch = argv[:4]
        self.mended = state == 'mended'
        self.count = int(argv[4])

    def path(self, *parts):
        return os.path.join(self.data, *map(str, parts))


def read_whole(path, flags=os.O_RDONLY, piece=16 * MIB, drop=False):
    """The bytes of a file, by as few calls as possible; how many. With drop, they
    do not stay in the page cache."""
    fd = os.open(path, flags)
    size = 0
    while n := len(os.read(fd, piece)):
        size += n
        if n < piece:
            break
    if drop:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    return size


def forget(path):
    """Out of the page cache."""
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def write_synced(path, size, piece=MIB):
    block = b'\1' * piece
    with open(path, 'wb', buffering=0) as f:
        for _ in range(size // piece):
            f.write(block)
        os.fsync(f.fileno())


# --- loaders of PyTorch ---

class Files:
    """A data set for torch.utils.data: one file is one sample."""

    def __init__(self, folder, count):
        self.paths = [os.path.join(folder, str(i)) for i in range(count)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return read_whole(self.paths[i])


def train(p, epochs, compute_s, **settings):
    from torch.utils.data import DataLoader

    loader = DataLoader(Files(p.data, p.count), batch_size=8, **settings)
    for _ in range(epochs):
        for _ in loader:
            time.sleep(compute_s)


def d01(p):
    """The main thread reads, then computes."""
    train(p, 1, 0.03, **({'num_workers': 1, 'prefetch_factor': 4,
                          'persistent_workers': True} if p.mended else {}))


def d02(p):
    """One worker for a trainer that could take twice as much."""
    train(p, 1, 0.002, num_workers=2 if p.mended else 1,
          prefetch_factor=4)


def d02_many(p):
    """Six workers on files that one could read."""
    train(p, 2, 0.05, num_workers=1 if p.mended else 6, persistent_workers=True)


def d04(p):
    """Workers that import everything anew in each epoch."""
    train(p, 3, 0.001, num_workers=1, multiprocessing_context='spawn',
          persistent_workers=p.mended)


# --- workers of its own ---

def read_batch(paths):
    return sum(map(read_whole, paths))


def in_turn(pipe):
    while paths := pipe.recv():
        pipe.send(read_batch(paths))


def d03(p):
    """Every fourth batch lies on slow storage, and batches come in order."""
    batches = [[p.path('far' if b % 4 == 3 else 'near', b * 5 + k)
                for k in range(5)] for b in range(p.count)]
    if p.mended:
        with multiprocessing.Pool(4) as pool:
            for _ in pool.imap_unordered(read_batch, batches):
                time.sleep(0.0005)
        return
    pipes = []
    for _ in range(4):
        ours, theirs = multiprocessing.Pipe()
        multiprocessing.Process(target=in_turn, args=(theirs,),
                                daemon=True).start()
        pipes.append(ours)
    for b in range(8):
        pipes[b % 4].send(batches[b])
    for b in range(p.count):
        pipes[b % 4].recv()
        if b + 8 < p.count:
            pipes[b % 4].send(batches[b + 8])
        time.sleep(0.0005)
    for pipe in pipes:
        pipe.send(None)


def d05_worker(p, rank, queue):
    for epoch in range(2):
        mine = list(range(p.count))[rank if p.mended else 0::2 if p.mended else 1]
        random.Random(epoch * 2 + rank).shuffle(mine)
        for i in mine:
            queue.put(read_whole(p.path(i)))
            forget(p.path(i))
    queue.put(None)


def d05(p):
    """Two workers of an IterableDataset that both go through all of it."""
    queue = multiprocessing.Queue(16)
    workers = [multiprocessing.Process(target=d05_worker, args=(p, r, queue))
               for r in range(2)]
    for w in workers:
        w.start()
    for _ in workers:
        while queue.get() is not None:
            pass
    for w in workers:
        w.join()


def ranks(p, body):
    """Two ranks as a launcher starts them: processes with RANK set."""
    if 'RANK' in os.environ:
        body(int(os.environ['RANK']))
        return
    argv = [sys.executable, *sys.argv]
    started = [os.posix_spawn(sys.executable, argv,
                              dict(os.environ, RANK=str(r), WORLD_SIZE='2'))
               for r in range(2)]
    for pid in started:
        os.waitpid(pid, 0)


def s02(p):
    """Both ranks read the whole data set in the same order."""
    def body(rank):
        for epoch in range(2):
            order = list(range(p.count))
            random.Random(epoch).shuffle(order)
            for i in order[rank::2] if p.mended else order:
                read_whole(p.path(i))
                forget(p.path(i))
    ranks(p, body)


# --- what is read, and how ---

def d06(p):
    """A sampler that is too short."""
    names = sorted(n for n in os.listdir(p.data) if n[0] != '.')
    for _ in range(2):
        for name in names if p.mended else names[:-len(names) // 5]:
            read_whole(p.path(name))


def d07(p):
    """The same files from storage in each epoch, though memory has room."""
    kept = {}
    for epoch in range(3):
        order = list(range(p.count))
        random.Random(epoch).shuffle(order)
        for i in order:
            if i in kept:
                continue
            size = read_whole(p.path(i))
            forget(p.path(i))
            if p.mended:
                kept[i] = size


def d08(p):
    """One file in pieces of 4 KiB, without read-ahead."""
    fd = os.open(p.path('big'), os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    piece = MIB if p.mended else 4 * KIB
    at = 0
    while at < p.count * 4 * KIB:
        at += len(os.read(fd, min(piece, p.count * 4 * KIB - at)))
    os.close(fd)


def d09(p):
    """Opened to look at the kind, opened for the size, opened for the data."""
    for i in [*range(p.count // 2)] * 2: # two epochs
        if not p.mended:
            for _ in range(2):
                fd = os.open(p.path(i), os.O_RDWR)
                os.fstat(fd)
                os.lseek(fd, 0, os.SEEK_END)
                os.close(fd)
        read_whole(p.path(i), os.O_RDWR)


def d10(p):
    """Many small files; packed, one that is read in order."""
    if p.mended:
        for _ in range(2):
            fd = os.open(p.path('packed'), os.O_RDWR)
            for _ in range(p.count // 2):
                os.read(fd, 4000)
            os.close(fd)
        return
    for i in [*range(p.count // 2)] * 2: # two epochs
        read_whole(p.path(i), os.O_RDWR)


def d11(p):
    """A folder for each class, listed before training begins."""
    if p.mended:
        with open(os.path.join(p.scratch, 'samples'), encoding='utf-8') as f:
            paths = f.read().split('\n')
    else:
        paths = [e.path for folder in range(p.count)
                 for e in os.scandir(p.path(folder)) if e.stat().st_size]
    for path in paths[:60]:
        read_whole(path)
        time.sleep(0.004)


def d12(p):
    """Records at random places, header first: the kernel reads ahead in vain."""
    size = os.stat(p.path('big')).st_size
    fd = os.open(p.path('big'), os.O_RDONLY)
    if p.mended:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    places = random.Random(1).sample(range(size // (512 * KIB)), p.count)
    for place in places:
        at = place * 512 * KIB + 64 * KIB
        os.pread(fd, 4 * KIB, at)
        os.pread(fd, 28 * KIB, at + 4 * KIB)
    os.close(fd)


def d13(p):
    """A mapped array, touched here and there."""
    size = p.count * 64 * KIB
    fd = os.open(p.path('big'), os.O_RDONLY)
    mapped = mmap.mmap(fd, size, prot=mmap.PROT_READ)
    mapped.madvise(mmap.MADV_RANDOM)
    os.close(fd)
    order = list(range(p.count))
    random.Random(1).shuffle(order)
    if p.mended:
        for i in order:
            mapped.madvise(mmap.MADV_WILLNEED, i * 64 * KIB, 4 * KIB)
    sum(mapped[i * 64 * KIB] for i in order)


def d18(p):
    """A few files lie where the storage stalls."""
    for i in range(p.count):
        read_whole(os.path.join(p.scratch, 'files', str(i % 500)))
        if i % 250 == 249:
            path = p.path(i // 250)
            if p.mended:
                path = os.path.join(p.scratch, 'files', '0')
            read_whole(path)


def d19(p):
    """Hundreds of modules from a slow shared folder."""
    folder = os.path.join(p.scratch, 'modules') if p.mended else p.data
    for k in range(30):
        sys.path.insert(0, os.path.join(p.scratch, f'path{k}'))
    sys.path.append(folder)
    sys.dont_write_bytecode = True
    for k in range(p.count):
        __import__(f'slow_module_{k}')


def d21(p):
    """A system call that the library has no name for: readv by its number."""
    if p.mended:
        for i in range(p.count):
            read_whole(p.path(i))
        return
    libc = ctypes.CDLL(None)
    buffer = ctypes.create_string_buffer(MIB)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), MIB)
    for i in range(p.count):
        fd = os.open(p.path(i), os.O_RDONLY)
        while libc.syscall(READV_CALL, fd, vector, 1) > 0:
            pass
        os.close(fd)


def d22(p):
    """A file of records that is opened for each of them."""
    fd = None
    for epoch in range(2):
        places = list(range(p.count // 2))
        random.Random(epoch).shuffle(places)
        for place in places:
            if fd is None or not p.mended:
                fd = os.open(p.path('big'), os.O_RDWR)
            os.pread(fd, 64 * KIB, place * 64 * KIB)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            if not p.mended:
                os.close(fd)


def s01(p):
    """Requests of a quarter of a stripe."""
    for i in range(p.count):
        read_whole(p.path(i), piece=(4 * MIB if p.mended else 256 * KIB) + 0)


def s03(p):
    """Record files of 1 MB, twice; packed, a big one."""
    for _ in range(2):
        if p.mended:
            fd = os.open(p.path('packed'), os.O_RDWR)
            for _ in range(p.count // 2):
                os.read(fd, MIB)
            os.close(fd)
            forget(p.path('packed'))
            continue
        for i in range(p.count // 2):
            read_whole(p.path(i), os.O_RDWR, piece=MIB, drop=True)


def s04(p):
    """Statistics of each data set, looked up here and there."""
    for i in range(p.count):
        fd = os.open(p.path(i), os.O_RDONLY)
        if p.mended:
            os.read(fd, 128 * KIB)
        else:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
            for k in range(24):
                os.pread(fd, 500, k * 7 % 24 * 4 * KIB)
        os.close(fd)


def s05(p):
    """Each epoch over the network; or once, to a local disk."""
    local = os.path.join(p.scratch, 'local')
    if p.mended:
        os.makedirs(local, exist_ok=True)
    for epoch in range(3):
        for i in range(p.count):
            path = os.path.join(local, str(i))
            if not p.mended or epoch == 0:
                read_whole(p.path(i))
                forget(p.path(i))
            if p.mended and epoch == 0:
                with open(path, 'wb') as f:
                    f.write(bytes(50 * KIB))
            elif p.mended:
                read_whole(path)


# --- saving ---

def saves(p, folder, background=False, times=3):
    """Steps of 50 ms, a checkpoint after every eighth."""
    thread = None
    for step in range(8 * times + 16): # the last save ends before training does
        read_whole(os.path.join(p.scratch, 'files', str(step)))
        time.sleep(0.05)
        if step % 8 != 7 or step >= 8 * times:
            continue
        path = os.path.join(folder, f'state{step}')
        if not background:
            write_synced(path, p.count * MIB)
            continue
        if thread:
            thread.join()
        thread = threading.Thread(target=write_synced,
                                  args=(path, p.count * MIB))
        thread.start()
    if thread:
        thread.join()


def d14(p):
    """Training stops until the checkpoint is on the disk."""
    saves(p, p.data, background=p.mended)


def s06(p):
    """The same over the network; or to a local disk, copied on meanwhile."""
    saves(p, p.data, background=p.mended)


def d15(p):
    """Each checkpoint over the last one."""
    path = os.path.join(p.scratch, 'state')
    for _ in range(2):
        if not p.mended:
            with open(path, 'wb') as f:
                f.write(bytes(p.count * KIB))
            continue
        with open(path + '.tmp', 'wb') as f:
            f.write(bytes(p.count * KIB))
            f.flush()
            os.fsync(f.fileno())
        os.replace(path + '.tmp', path)


def d20(p):
    """A line in the log for each step, and on the disk at once."""
    if p.mended:
        log = open(p.path('log'), 'a', buffering=64 * KIB, encoding='utf-8')
    else:
        log = open(p.path('log'), 'a', encoding='utf-8')
    for step in range(p.count):
        read_whole(os.path.join(p.scratch, 'files', str(step % 500)))
        time.sleep(0.005)
        log.write(f'step {step}\n')
        if not p.mended:
            log.flush()
            os.fsync(log.fileno())
    log.close()


# --- what limits it ---

def d17_storage(p):
    """Reads as fast as the device can, and hardly computes."""
    for i in [*range(p.count)] * 2:
        read_whole(p.path(i), drop=True)
        if i % 4 == 3:
            time.sleep(0.003)


def d17_worker(p, queue):
    for i in [*range(p.count)] * 2:
        read_whole(p.path(i), drop=True)
        time.sleep(0.004) # decoding
        if i % 8 == 7:
            queue.put(i)
    queue.put(None)


def d17_cpu(p):
    """A worker that decodes; mended, a trainer that has more to do than it."""
    queue = multiprocessing.Queue(1)
    worker = multiprocessing.Process(target=d17_worker, args=(p, queue))
    worker.start()
    while queue.get() is not None:
        time.sleep(0.15 if p.mended else 0)
    worker.join()


PROGRAMS = {name.replace('_', '-').upper(): function
            for name, function in list(globals().items())
            if name[0] in 'ds' and name[1:3].isdigit() and not name.endswith('_worker')}

if __name__ == '__main__':
    asked = Program(sys.argv[1:])
    PROGRAMS[asked.name](asked)
