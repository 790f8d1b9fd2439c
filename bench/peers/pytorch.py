# pytorch.py - PyTorch's DataLoader over torchvision's ImageFolder.
# SPDX-License-Identifier: Apache-2.0
#
# Settings: workers; decode: pil (Pillow decodes and resizes) or io
# (torchvision.io's decode_jpeg, tensors are resized); normalize: sample (in
# the workers) or batch (bytes are passed on, and normalized as a batch);
# ahead: batches a worker is ahead.
import warnings

import torch
import torchvision
from torch.utils.data import DataLoader, Sampler
from torchvision import io, transforms
from torchvision.datasets import folder

import peer

try:
    from torchvision.transforms import v2
except ImportError:
    v2 = transforms # before 0.15


def decode_io(path):
    return io.decode_jpeg(io.read_file(path), io.ImageReadMode.RGB)


class Shuffled(Sampler):
    """All epochs as one sequence, so that the workers are started once."""

    def __init__(self, count, epochs):
        self.count, self.epochs = count, epochs

    def __len__(self):
        return self.count * self.epochs

    def __iter__(self):
        for _ in range(self.epochs):
            yield from torch.randperm(self.count).tolist()


def steps(args, decode, normalize):
    size = (args.height, args.width)
    found = ([v2.Resize(size), v2.PILToTensor()] if decode == 'pil'
             else [v2.Resize(size, antialias=True)])
    if normalize == 'sample':
        found += [v2.ConvertImageDtype(torch.float32),
                  v2.Normalize(mean=peer.MEAN, std=peer.DEVIATION)]
    return transforms.Compose(found)


class Loader:
    def __init__(self, args):
        s = args.settings
        decode = s.get('decode', 'pil')
        self.normalize = s.get('normalize', 'sample')
        self.data = folder.ImageFolder(
            args.data, steps(args, decode, self.normalize),
            loader=folder.pil_loader if decode == 'pil' else decode_io)
        self.options = {'batch_size': args.batch,
                        'num_workers': s.get('workers', 0)}
        if self.options['num_workers']:
            self.options['prefetch_factor'] = s.get('ahead', 2)
        mean, deviation = (torch.tensor(v).reshape(1, 3, 1, 1)
                           for v in (peer.MEAN, peer.DEVIATION))
        self.scale, self.shift = 1 / (255 * deviation), mean / deviation

    def batches(self, epochs):
        loader = DataLoader(self.data, sampler=Shuffled(len(self.data),
                                                        epochs),
                            **self.options)
        for pictures, _ in loader:
            if self.normalize == 'batch':
                pictures = pictures.to(torch.float32).mul_(self.scale)
                pictures.sub_(self.shift)
            yield pictures


def open_loader(args):
    torch.manual_seed(args.seed)
    # More workers than cores are tried on purpose.
    warnings.filterwarnings('ignore', message='This DataLoader will create')
    return Loader(args)


if __name__ == '__main__':
    peer.main(f'{torch.__version__}, torchvision {torchvision.__version__}',
              open_loader)
