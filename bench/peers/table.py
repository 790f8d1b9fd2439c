# table.py - the loaders that weir is measured against.
# SPDX-License-Identifier: Apache-2.0
#
# A peer is one program of this folder, run as
#     PROGRAM --data DIR --batch N --size WxH --workers N --batches N --seed N
# It takes batches as fast as they come and prints one JSON object (peer.py
# does all but the loading). With --probe it prints its version, and fails
# when it cannot run here. See docs/benchmarks.md.
from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    name: str
    program: str
    packages: str # Debian's
    workers: tuple # tried before measuring; the fastest counts
    speed_bar: float # weir's images/s over the peer's, at least
    memory_bar: float # weir's peak memory over the peer's, at most
    layout: str # of its batches


PEERS = (
    Peer('PyTorch', 'pytorch.py', 'python3-torch python3-torchvision',
         workers=(0, 1, 2, 4), speed_bar=2.5, memory_bar=0.25,
         layout='nchw'),
)
