# table.py - the loaders that weir is measured against, and the work.
# SPDX-License-Identifier: Apache-2.0
#
# A peer is one program of this folder, run as
#     PROGRAM --data DATA --dtype TYPE --batch N --size WxH --epochs N ...
# It takes batches as fast as they come and prints one JSON object (peer.py
# does all but the loading). With --probe it prints its version, and fails
# when it cannot run here; with --make SOURCE it makes DATA. See docs/peers.md.
import os
from dataclasses import dataclass, field

CORES = len(os.sched_getaffinity(0))

@dataclass(frozen=True)
class Case:
    """The same work for weir and its peers."""
    title: str
    dtype: str
    weir: tuple # options of 'weir bench'
    epochs: int # of a run that counts
    search_batches: int # of a run that only compares settings


CASES = {
    'jpeg': Case('JPEG tree to 224x224 f32, normalized, batches of 64', 'f32',
                 ('--size', '224x224', '--dtype', 'f32'),
                 epochs=2, search_batches=24),
    'tfrecord': Case('TFRecord of the same JPEGs, to the same batches', 'f32',
                     ('--size', '224x224', '--dtype', 'f32'),
                     epochs=2, search_batches=24),
    'tensors': Case('precached 224x224x3 u8 tensors to u8 batches of 64', 'u8',
                    ('--dtype', 'u8', '--normalize', 'none'),
                    epochs=8, search_batches=256),
}


@dataclass(frozen=True)
class Peer:
    name: str
    case: str
    program: str
    data: str # kind of its data set: pictures, shards, betonjpeg, betonraw
    layout: str # of its batches
    # Settings tried, one key after the other; the first value is the default.
    search: dict = field(hash=False)
    venv: str = '' # installed by scripts/peers.sh; '': Debian's packages
    packages: str = '' # Debian's
    # weir over the peer, at least; weir's memory over the peer's, at most.
    speed_bar: float = 1.0
    cpu_bar: float = 1.0
    memory_bar: float = 1.0

    @property
    def key(self):
        """What --only calls it."""
        return self.name.lower().replace(' ', '-')

    @property
    def workers(self):
        return self.search['workers']


# The number of cores first, then others that do not repeat it.
COUNTS = tuple(dict.fromkeys((CORES, CORES + 1, 2 * CORES,
                              max(CORES // 2, 1))))

TORCH = {'workers': (*COUNTS, 0), 'decode': ('pil', 'io'),
         'normalize': ('sample', 'batch'), 'ahead': (2, 4)}
TF = {'calls': ('auto', *COUNTS), 'fancy': (1, 0), 'dct': ('fast', 'accurate'),
      'normalize': ('sample', 'batch'), 'pool': (0, CORES)}
# It takes no more threads than there are cores.
FFCV = {'workers': tuple(n for n in COUNTS if n <= CORES),
        'ahead': (3, 1, 2), 'cache': (1, 0)}

ALL = (
    Peer('Pillow', 'jpeg', 'pillow.py', 'pictures', 'nhwc',
         {'workers': (*COUNTS, 0), 'draft': (0, 1), 'ahead': (2, 4)},
         packages='python3-pil python3-numpy'),
    Peer('PyTorch Debian', 'jpeg', 'pytorch.py', 'pictures', 'nchw', TORCH,
         packages='python3-torch python3-torchvision',
         speed_bar=2.5, memory_bar=0.25),
    Peer('PyTorch', 'jpeg', 'pytorch.py', 'pictures', 'nchw', TORCH,
         venv='pytorch'),
    Peer('tf.data', 'jpeg', 'tfdata.py', 'pictures', 'nhwc', TF,
         venv='tensorflow'),
    Peer('DALI', 'jpeg', 'dali.py', 'pictures', 'nchw',
         {'workers': COUNTS, 'ahead': (2, 1, 3), 'idct': (0, 1),
          'map': (1, 0)},
         venv='dali'),
    Peer('FFCV', 'jpeg', 'beton.py', 'betonjpeg', 'nhwc',
         FFCV,
         venv='ffcv'),
    Peer('tf.data', 'tfrecord', 'tfdata.py', 'shards', 'nhwc',
         {**TF, 'cycle': ('auto', 2, 4)}, venv='tensorflow', speed_bar=2.0),
    Peer('FFCV', 'tensors', 'beton.py', 'betonraw', 'nhwc',
         FFCV,
         venv='ffcv', speed_bar=1.5),
)

