# dali.py - NVIDIA DALI over picture files, without a GPU.
# SPDX-License-Identifier: Apache-2.0
#
# Settings: workers: threads; ahead: batches in the queue; idct: 1 for the
# fast inverse DCT; map: 1 maps the files, 0 reads them.
import glob
import os
import random

import numpy as np
import nvidia.dali
from nvidia.dali import fn, pipeline_def, types

import peer


@pipeline_def
def pictures(args, files, settings):
    encoded, _ = fn.readers.file(files=files, shuffle_after_epoch=True,
                                 dont_use_mmap=not settings['map'])
    decoded = fn.decoders.image(encoded, device='cpu', output_type=types.RGB,
                                use_fast_idct=bool(settings['idct']))
    resized = fn.resize(decoded, size=[args.height, args.width],
                        interp_type=types.INTERP_LINEAR)
    return fn.crop_mirror_normalize(
        resized, dtype=types.FLOAT, output_layout='CHW',
        mean=[255 * m for m in peer.MEAN],
        std=[255 * d for d in peer.DEVIATION])


class Loader:
    def __init__(self, args):
        self.args = args
        self.settings = {'workers': 2, 'ahead': 2, 'idct': 0, 'map': 1,
                         **args.settings}
        self.files = sorted(glob.glob(os.path.join(args.data, '*', '*')))
        random.Random(args.seed).shuffle(self.files)

    def batches(self, epochs):
        """The queue runs on from epoch to epoch. A batch that is not full
        would be filled up: it is left out."""
        pipe = pictures(self.args, self.files, self.settings,
                        batch_size=self.args.batch, device_id=None,
                        num_threads=self.settings['workers'],
                        prefetch_queue_depth=self.settings['ahead'],
                        seed=self.args.seed)
        pipe.build()
        for _ in range(len(self.files) * epochs // self.args.batch):
            batch, = pipe.run()
            yield np.asarray(batch.as_tensor()) # not copied


if __name__ == '__main__':
    peer.main(nvidia.dali.__version__, Loader)
