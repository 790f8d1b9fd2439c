# torch_step.py - PyTorch's side of bench-train: BATCH THREADS WIDTH SEARCH.
# SPDX-License-Identifier: Apache-2.0
#
# The same network (TF-slim's alexnet_v2 without dropout), batch and optimizer,
# and the same protocol on stdin and stdout. With SEARCH 1 the layouts of
# activations and the kinds of Adam that this PyTorch has are tried first, and
# the fastest is used; with 0 its defaults are.
import resource
import sys
import time

try:
    import torch
    from torch import nn
except ImportError:
    print('no torch (Debian: python3-torch)', file=sys.stderr)
    sys.exit(77)

CLASSES, SIDE, RATE, TRIES = 102, 224, 1e-6, 3
KINDS = ({}, {'foreach': True}, {'fused': True}) # of Adam


def network(width):
    def channels(n):
        return max(int(n * width + 0.5), 1)
    c = [3, *map(channels, (64, 192, 384, 384, 256))]
    dense = channels(4096)
    return nn.Sequential(
        nn.Conv2d(c[0], c[1], 11, 4), nn.ReLU(True), nn.MaxPool2d(3, 2),
        nn.Conv2d(c[1], c[2], 5, 1, 2), nn.ReLU(True), nn.MaxPool2d(3, 2),
        nn.Conv2d(c[2], c[3], 3, 1, 1), nn.ReLU(True),
        nn.Conv2d(c[3], c[4], 3, 1, 1), nn.ReLU(True),
        nn.Conv2d(c[4], c[5], 3, 1, 1), nn.ReLU(True), nn.MaxPool2d(3, 2),
        nn.Flatten(),
        nn.Linear(c[5] * 25, dense), nn.ReLU(True),
        nn.Linear(dense, dense), nn.ReLU(True), nn.Linear(dense, CLASSES))


class Trainer:
    def __init__(self, batch, width, layout, kind):
        torch.manual_seed(1)
        self.net = network(width).to(memory_format=layout)
        self.adam = torch.optim.Adam(self.net.parameters(), lr=RATE, **kind)
        self.loss = nn.CrossEntropyLoss()
        self.x = torch.rand(batch, 3, SIDE, SIDE).contiguous(
            memory_format=layout)
        self.y = torch.randint(CLASSES, (batch,))

    def step(self):
        begin, cpu = time.monotonic(), time.process_time()
        self.adam.zero_grad(set_to_none=True)
        self.loss(self.net(self.x), self.y).backward()
        self.adam.step()
        return ((time.monotonic() - begin) * 1e3,
                (time.process_time() - cpu) * 1e3)


def search(batch, width):
    """(Milliseconds, layout, kind of Adam), the fastest first."""
    found = []
    for layout in torch.contiguous_format, torch.channels_last:
        for kind in KINDS:
            try:
                trainer = Trainer(batch, width, layout, kind)
                trainer.step()
                times = sorted(trainer.step()[0] for _ in range(TRIES))
            except (TypeError, RuntimeError):
                continue # this PyTorch does not have it
            found.append((times[0], layout, kind))
    return sorted(found, key=lambda f: f[0])


def main(batch, threads, width, searching):
    torch.set_num_threads(threads)
    layout, kind = torch.contiguous_format, {}
    if searching:
        _, layout, kind = search(batch, width)[0]
    trainer = Trainer(batch, width, layout, kind)
    name = str(layout).rpartition('.')[2] + ''.join(f', {k}' for k in kind)
    print(f'ready PyTorch {torch.__version__} ({name})', flush=True)
    for _ in sys.stdin:
        print('%.3f %.3f' % trainer.step(), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f'peak {peak}')


main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]),
     int(sys.argv[4]))
