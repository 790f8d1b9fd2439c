# pytorch.py - PyTorch's DataLoader over torchvision's ImageFolder.
# SPDX-License-Identifier: Apache-2.0
import warnings

import torch
import torchvision
from torch.utils.data import DataLoader
from torchvision import transforms

import peer


class Pictures:
    """The loader without its labels."""

    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        for pictures, _ in self.loader:
            yield pictures


def open_loader(args):
    torch.manual_seed(args.seed)
    # More workers than cores are tried on purpose.
    warnings.filterwarnings('ignore', message='This DataLoader will create')
    steps = transforms.Compose([
        transforms.Resize((args.height, args.width)),
        transforms.ToTensor(),
        transforms.Normalize(mean=[0.485, 0.456, 0.406],
                             std=[0.229, 0.224, 0.225]),
    ])
    folder = torchvision.datasets.ImageFolder(args.data, steps)
    return Pictures(DataLoader(folder, batch_size=args.batch, shuffle=True,
                               num_workers=args.workers))


if __name__ == '__main__':
    peer.main('PyTorch',
              f'{torch.__version__}, torchvision {torchvision.__version__}',
              open_loader)
