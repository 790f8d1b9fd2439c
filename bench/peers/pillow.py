# pillow.py - Pillow and NumPy: the loop one writes first, over processes.
# SPDX-License-Identifier: Apache-2.0
#
# Settings: workers: processes, 0 for none; draft: 1 lets libjpeg decode at a
# smaller scale, as Pillow offers it; ahead: batches a worker is ahead.
import collections
import glob
import multiprocessing
import os
import random

import numpy as np
import PIL
from PIL import Image

import peer

MEAN = np.array(peer.MEAN, np.float32)
SCALE = 1 / np.array(peer.DEVIATION, np.float32)


def load(path, size, draft):
    with Image.open(path) as picture:
        if draft:
            picture.draft('RGB', size)
        resized = picture.convert('RGB').resize(size, Image.BILINEAR)
    return (np.asarray(resized, np.float32) / 255 - MEAN) * SCALE


def load_batch(paths, size, draft):
    return np.stack([load(path, size, draft) for path in paths])


class Loader:
    def __init__(self, args):
        s = {'workers': 2, 'draft': 0, 'ahead': 2, **args.settings}
        self.workers, self.ahead = s['workers'], max(s['ahead'], 1)
        self.options = (args.width, args.height), bool(s['draft'])
        self.batch = args.batch
        self.rng = random.Random(args.seed)
        self.paths = sorted(glob.glob(os.path.join(args.data, '*', '*')))

    def lists(self, epochs):
        """The paths of each batch."""
        for _ in range(epochs):
            order = self.rng.sample(self.paths, len(self.paths))
            for k in range(0, len(order), self.batch):
                yield order[k:k + self.batch]

    def batches(self, epochs):
        if not self.workers:
            for paths in self.lists(epochs):
                yield load_batch(paths, *self.options)
            return
        with multiprocessing.Pool(self.workers) as pool:
            yield from self.of_pool(pool, epochs)

    def of_pool(self, pool, epochs):
        waiting = collections.deque()
        for paths in self.lists(epochs):
            waiting.append(pool.apply_async(load_batch,
                                            (paths, *self.options)))
            if len(waiting) > self.workers * self.ahead:
                yield waiting.popleft().get()
        while waiting:
            yield waiting.popleft().get()


if __name__ == '__main__':
    peer.main(f'{PIL.__version__}, NumPy {np.__version__}', Loader)
