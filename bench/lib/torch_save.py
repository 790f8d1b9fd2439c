# torch_save.py - seconds that torch.save and fsync take: FOLDER BYTES ROUNDS.
# SPDX-License-Identifier: Apache-2.0
import os
import statistics
import sys
import time

try:
    import torch
except ImportError:
    sys.exit('no torch (Debian: python3-torch)')

PARTS = 48


def save(state, path):
    start = time.monotonic()
    torch.save(state, path)
    with open(path, 'rb+') as f:
        os.fsync(f.fileno())
    return time.monotonic() - start


def main(folder, size, rounds):
    path = os.path.join(folder, 'torch-save.pt')
    state = {f't{i:02}': torch.rand(size // 4 // PARTS) for i in range(PARTS)}
    try:
        times = [save(state, path) for _ in range(rounds + 1)]
    finally:
        if os.path.exists(path):
            os.unlink(path)
    print(statistics.median(times[1:])) # the first one makes the file


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
