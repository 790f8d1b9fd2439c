# beton.py - FFCV over its own files: the same JPEGs, or raw tensors.
# SPDX-License-Identifier: Apache-2.0
#
# Settings: workers: threads; ahead: finished batches; cache: 1 maps the file
# (the system caches it), 0 reads it into memory of its own.
import contextlib
import glob
import importlib.metadata
import os
import sys

import numpy as np
import torch
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.rgb_image import (IMAGE_MODES, ResizedCropRGBImageDecoder,
                                   SimpleRGBImageDecoder)
from ffcv.loader import Loader as BetonLoader
from ffcv.loader import OrderOption
from ffcv.transforms import NormalizeImage, ToTensor
from ffcv.writer import DatasetWriter
from PIL import Image
from torchvision.datasets import ImageFolder

import peer


def whole_frame(height, width, _, __):
    return 0, 0, height, width


class WholeFrame(ResizedCropRGBImageDecoder):
    """FFCV's decoders crop; this one resizes the whole picture."""
    scale = ratio = 0.0

    @property
    def get_crop_generator(self):
        return whole_frame


class FileField(RGBImageField):
    """Keeps a JPEG file as it is, where FFCV would encode it again."""

    def encode(self, destination, image, malloc):
        path = image
        with open(path, 'rb') as f:
            encoded = np.frombuffer(f.read(), dtype='<u1')
        with Image.open(path) as picture:
            destination['width'], destination['height'] = picture.size
        destination['mode'] = IMAGE_MODES['jpg']
        destination['data_ptr'], storage = malloc(encoded.nbytes)
        storage[:] = encoded


class Loader:
    def __init__(self, args):
        s = {'workers': 2, 'ahead': 3, 'cache': 1, **args.settings}
        steps = [SimpleRGBImageDecoder()]
        if args.dtype == 'f32':
            steps = [WholeFrame((args.height, args.width)), NormalizeImage(
                255 * np.array(peer.MEAN), 255 * np.array(peer.DEVIATION),
                np.float32)]
        self.loader = BetonLoader(
            args.data, batch_size=args.batch, num_workers=s['workers'],
            os_cache=bool(s['cache']), batches_ahead=s['ahead'],
            order=OrderOption.RANDOM, seed=args.seed, drop_last=False,
            pipelines={'image': [*steps, ToTensor()], 'label': None},
            custom_fields={'image': RGBImageField})

    def warm_up(self, epochs):
        """A short epoch: FFCV compiles in the first."""
        whole = self.loader.first_traversal_order
        self.loader.first_traversal_order = whole[:8 * self.loader.batch_size]
        try:
            yield from self.batches(epochs)
        finally:
            self.loader.first_traversal_order = whole

    def batches(self, epochs):
        for _ in range(epochs):
            running = iter(self.loader)
            try:
                for batch, in running:
                    yield batch
            finally: # its thread reads the file until it ends
                running.terminate_event.set()
                running.join()
                running.close()


class Tensors:
    """The arrays of .npy files, with labels."""

    def __init__(self, folder):
        names = sorted(glob.glob(os.path.join(folder, '*.npy')))
        arrays = [np.load(n, mmap_mode='r') for n in names]
        self.arrays = [a for a in arrays if a.ndim == 4]
        self.starts = np.cumsum([0] + [len(a) for a in self.arrays])

    def __len__(self):
        return int(self.starts[-1])

    def __getitem__(self, i):
        k = int(np.searchsorted(self.starts, i, side='right')) - 1
        return np.ascontiguousarray(self.arrays[k][i - self.starts[k]]), 0


def make(args):
    """SOURCE has pictures in class folders, or .npy files."""
    if glob.glob(os.path.join(args.make, '*.npy')):
        data, field = Tensors(args.make), RGBImageField(write_mode='raw')
    else:
        data = ImageFolder(args.make, loader=lambda path: path)
        field = FileField()
    with contextlib.redirect_stdout(sys.stderr):
        writer = DatasetWriter(args.data + '.tmp',
                               {'image': field, 'label': IntField()},
                               num_workers=2)
        writer.from_indexed_dataset(data)
    os.rename(args.data + '.tmp', args.data)


if __name__ == '__main__':
    peer.main(f"{importlib.metadata.version('ffcv')}, torch "
              f'{torch.__version__}', Loader, make)
