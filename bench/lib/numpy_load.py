# numpy_load.py - numpy.load of all arrays of files: PROCESSES ROUNDS FILE...
# SPDX-License-Identifier: Apache-2.0
#
# Prints, for each round, the seconds and the seconds of processor time that all
# files took. Each process takes the next file, as the workers of a loader do;
# it has loaded one before, so that its memory is warm.
import multiprocessing
import sys
import time

try:
    import numpy as np
except ImportError:
    sys.exit('no numpy (Debian: python3-numpy)')


def load(path):
    start = time.process_time()
    with np.load(path) as z:
        total = sum(z[name].nbytes for name in z.files)
    return total, time.process_time() - start


def main(processes, rounds, files):
    with multiprocessing.Pool(processes) as pool:
        pool.map(load, files[:1] * processes, chunksize=1)
        for _ in range(rounds):
            start = time.monotonic()
            done = pool.map(load, files, chunksize=1)
            print(time.monotonic() - start, sum(cpu for _, cpu in done))


if __name__ == '__main__':
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
