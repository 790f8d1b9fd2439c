# torch_train.py - a small training in PyTorch: files, workers, two epochs.
# SPDX-License-Identifier: Apache-2.0
#
# usage: torch_train.py FOLDER FILES fork|spawn|forkserver WORKERS
#
# Prints the seconds of the training, the start and the end of its workers
# included; those of loading PyTorch are not.
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, folder, count):
        self.paths = [os.path.join(folder, f'{i:05}.bin')
                      for i in range(count)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with open(self.paths[i], 'rb') as f:
            pixels = torch.frombuffer(bytearray(f.read()), dtype=torch.uint8)
        return pixels.reshape(3, 64, 64).float() / 255, i % 10


def main():
    folder, count, kind, workers = sys.argv[1:]
    began = time.monotonic()
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.ReLU(),
        torch.nn.Flatten(), torch.nn.Linear(8 * 31 * 31, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Pictures(folder, int(count)), 32, shuffle=True,
                        num_workers=int(workers), persistent_workers=True,
                        multiprocessing_context=kind)
    for _ in range(2):
        for pixels, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(pixels), labels).backward()
            optimizer.step()
    del loader
    print(time.monotonic() - began)


if __name__ == '__main__':
    main()
