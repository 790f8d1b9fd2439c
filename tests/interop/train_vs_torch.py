# train_vs_torch.py - a training step against PyTorch: loss and gradients.
# SPDX-License-Identifier: Apache-2.0
#
# usage: train_vs_torch.py TRAIN-DUMP [ENGINE [WIDTH [BATCH]]]
#
# Same weights, same batch, both in f32. A value that is 0 but for rounding may
# be above 0 here and below there; a ReLU or a maximum then sends its gradient
# another way, which shows as about 1e-3 in that layer and those before it. That
# happens to some inputs: so of a few, one must agree to 1e-5 in every layer,
# and all must agree as far as such a flip allows. Exit 77: PyTorch or the
# engine is not installed.
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as e:
    print(f'skipped: {e} (Debian: python3-torch)')
    sys.exit(77)

MAX_ERROR = 1e-5
MAX_FLIPPED = 0.1
SEEDS = 6


class Layer:
    def __init__(self, line):
        name, kind, *numbers = line.split()
        (self.out, self.inputs, self.kernel, self.stride, self.pad, self.relu,
         self.weight, self.bias) = map(int, numbers)
        self.name, self.kind = name, kind

    def spans(self):
        """Name, from, to of its tensors in the flat array."""
        if self.kind != 'pool':
            yield f'{self.name}.weight', self.weight, self.bias
            yield f'{self.name}.bias', self.bias, self.bias + self.out

    def run(self, x, params):
        """One layer of NHWC activations, as PyTorch computes it."""
        if self.kind == 'pool':
            return F.max_pool2d(x.permute(0, 3, 1, 2), self.kernel,
                                self.stride).permute(0, 2, 3, 1)
        w = params[self.weight:self.bias]
        b = params[self.bias:self.bias + self.out]
        if self.kind == 'conv':
            w = w.view(self.out, self.kernel, self.kernel, self.inputs)
            x = F.conv2d(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), b,
                         self.stride, self.pad).permute(0, 2, 3, 1)
        else:
            x = F.linear(x.reshape(x.shape[0], -1), w.view(self.out, -1), b)
        return F.relu(x) if self.relu else x


def dump(command, engine, folder):
    """Runs the program; its layers and its loss, or None without engine."""
    done = subprocess.run([*command, folder], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == 77:
        print(f'{engine}: skipped: {done.stderr.strip()}')
        return None
    assert done.returncode == 0, done.stderr
    *layers, last = done.stdout.splitlines()
    return [Layer(line) for line in layers], last.split()


def load(folder, name, kind='<f4'):
    return torch.from_numpy(np.fromfile(f'{folder}/{name}', kind))


def step(layers, folder, batch):
    """PyTorch's logits, loss and gradients of the dumped step."""
    params = load(folder, 'params.f32').requires_grad_()
    labels = load(folder, 'labels.u32', '<i4').long()
    x = load(folder, 'input.f32').view(batch, 224, 224, 3)
    for layer in layers:
        x = layer.run(x, params)
    loss = F.cross_entropy(x, labels)
    loss.backward()
    correct = (x.argmax(1) == labels).sum().item()
    return x.detach(), loss.item(), correct, params.grad


def distance(ours, theirs):
    return ((ours - theirs).norm() / theirs.norm()).item()


def compare(layers, said, folder, batch):
    """Distances of everything by name; the line to show."""
    logits, loss, correct, grads = step(layers, folder, batch)
    assert int(said[3]) == correct, f'{said[3]} correct, not {correct}'
    ours = load(folder, 'grads.f32')
    found = {'loss': abs(float(said[1]) / loss - 1),
             'logits': distance(load(folder, 'logits.f32'), logits.flatten())}
    for layer in layers:
        for name, start, end in layer.spans():
            found[name] = distance(ours[start:end], grads[start:end])
    worst = max(found, key=found.get)
    return found, (f'loss {said[1]}, PyTorch {loss:.9g}; largest relative '
                   f'L2 distance {found[worst]:.2e} ({worst})')


def agrees(program, engine, width, batch):
    """Whether a seed agrees; None when the engine is not there."""
    for seed in range(1, SEEDS + 1):
        with tempfile.TemporaryDirectory() as folder:
            dumped = dump([program, engine, str(width), str(batch), '2',
                           str(seed)], engine, folder)
            if not dumped:
                return None
            found, line = compare(*dumped, folder, batch)
        print(f'{engine}, seed {seed}: {line}')
        if not (found['loss'] <= MAX_ERROR and found['logits'] <= MAX_ERROR):
            return False # before any gradient
        if all(d <= MAX_ERROR for d in found.values()):
            return True
        if not all(d <= MAX_FLIPPED for d in found.values()):
            print('\n'.join(f'{name}: {d:.2e}' for name, d in found.items()))
            return False
    return False


def main(program, engines, width, batch):
    torch.set_num_threads(2)
    results = {e: agrees(program, e, width, batch) for e in engines}
    words = {True: 'agrees', False: 'DOES NOT agree', None: 'skipped'}
    for engine, result in results.items():
        print(f'{engine} {words[result]}: PyTorch {torch.__version__}, width '
              f'{width}, batch {batch}')
    if False in results.values():
        sys.exit(1)
    sys.exit(0 if True in results.values() else 77)


main(sys.argv[1],
     [sys.argv[2]] if len(sys.argv) > 2 else
     subprocess.check_output(sys.argv[1], text=True).split(),
     float(sys.argv[3]) if len(sys.argv) > 3 else 0.25,
     int(sys.argv[4]) if len(sys.argv) > 4 else 8)
