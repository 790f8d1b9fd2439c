#!/usr/bin/python3
# indexed_binary.py - indexed binary files as DLIO writes and reads them.
# SPDX-License-Identifier: Apache-2.0
"""usage: indexed_binary.py NPZ_DUMP INDEXED_BINARY_MAKE WEIR

Writes files as DLIO's generator does and compares what weir delivers; reads a
file that weir wrote as DLIO's two readers do (seek and read, memory maps). Exit
code 1: something differs."""

import json
import os
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("numpy is not installed")
    sys.exit(77)

DUMP, MAKE, WEIR = sys.argv[1:4]
failures = checks = 0


def check(what, got, want):
    global failures, checks
    checks += 1
    if got != want:
        failures += 1
        print(f"FAILED {what}:\n  got  {str(got)[:600]}\n  want {str(want)[:600]}")


def generate(path, records, buffer=None):
    """As IndexedBinaryGenerator writes: per buffer of samples, bytes packed one
    by one; offsets begin at 0 again in each buffer."""
    buffer = buffer or len(records)
    with open(path, "wb") as data, open(path + ".off.idx", "wb") as off, \
            open(path + ".sz.idx", "wb") as sz:
        for first in range(0, len(records), buffer):
            at = 0
            for r in records[first:first + buffer]:
                data.write(struct.pack("B" * len(r), *r))
                off.write(struct.pack("<Q", at))
                sz.write(struct.pack("<Q", len(r)))
                at += len(r)


def dump(path, schema="-", batch=3):
    r = subprocess.run([DUMP, path, schema, str(batch)], capture_output=True,
                       text=True)
    got, other = {}, []
    for line in r.stdout.splitlines():
        words = line.split(" ")
        if len(words) == 5 and words[0].isdigit():
            got[int(words[0])] = (words[1], words[2], words[3],
                                  bytes.fromhex(words[4]))
        elif not (len(words) == 3 and words[1] == "labels"):
            other.append(line)
    if r.returncode:
        other.append(f"exit {r.returncode} {r.stderr}")
    return [got[k] for k in sorted(got)], other


def read(rng, folder):
    train = os.path.join(folder, "train")
    os.mkdir(train)
    records = [rng.bytes(64) for _ in range(20)]
    for k in range(4):
        generate(os.path.join(train, f"img_{k}_of_4.indexed_binary"),
                 records[k * 5:k * 5 + 5])
    want = [("x", "u8", "64", r) for r in records]
    check("equal", dump(train), (want, []))
    check("declared", dump(train, "x=tensor:f32:4x4"),
          ([("x", "f32", "4x4", r) for r in records], []))
    one = os.path.join(train, "img_1_of_4.indexed_binary")
    check("one file", dump(one), (want[5:10], []))

    records = [rng.bytes(n) for n in (3, 70, 1, 1, 500, 12, 12, 12, 12, 9)]
    path = os.path.join(folder, "img_0_of_1.mmap_indexed_binary")
    generate(path, records)
    check("differ", dump(path), ([("x", "u8", "?", r) for r in records], []))


def read_restarted(rng, folder):
    """The generator's own bug: what it says is read, and that is named."""
    path = os.path.join(folder, "img_0_of_2.indexed_binary")
    records = [rng.bytes(32) for _ in range(8)]
    generate(path, records, buffer=4)
    got, other = dump(path)
    check("restarted", [x[3] for x in got], records[:4] * 2)
    check("restarted", len(other) == 1 and "entry 4 starts at byte 0" in
          other[0], True)
    with open(path, "r+b") as f:
        f.truncate(100)
    got, other = dump(path)
    check("cut off", [x[3] for x in got], records[:3] * 2)
    check("cut off", ["entry 3: 32 bytes at 96" in x for x in other],
          [True, False, False])


def commands(folder):
    """inspect and bench, as users call them."""
    train = os.path.join(folder, "train")
    r = subprocess.run([WEIR, "inspect", "--no-index-cache", "--quiet",
                        "--verify", "--json", train], stdout=subprocess.PIPE)
    doc = json.loads(r.stdout)
    check("inspect", (r.returncode, doc["format"], doc["samples"],
                      [(f["name"], f["kind"], f["dims"])
                       for f in doc["fields"]], doc["broken"]["count"]),
          (0, "indexed_binary", 20, [("x", "tensor", [64])], 0))
    r = subprocess.run([WEIR, "bench", "--no-index-cache", "--quiet", "--dtype",
                        "u8", "--batch", "5", "--epochs", "1", train],
                       capture_output=True, text=True)
    check("bench", (r.returncode, r.stderr), (0, ""))


def write(folder):
    name = "img_0_of_1.indexed_binary"
    path = os.path.join(folder, "w", name)
    os.mkdir(os.path.dirname(path))
    subprocess.run([MAKE, os.path.dirname(path), name, "7", "1000"], check=True)
    want = np.arange(7000, dtype="<f4").reshape(7, 1000)
    off = np.memmap(path + ".off.idx", dtype="<u8", mode="r")
    sz = np.memmap(path + ".sz.idx", dtype="<u8", mode="r")
    data = np.memmap(path, dtype="u1", mode="r")
    check("written", (len(off), len(sz), len(data)), (7, 7, 28000))
    with open(path, "rb") as f:
        for k in range(7):
            f.seek(int(off[k]))
            check("seek", f.read(int(sz[k])), want[k].tobytes())
            check("map", data[off[k]:off[k] + sz[k]].tobytes(),
                  want[k].tobytes())
    check("back", dump(path, "x=tensor:f32:1000"),
          ([("x", "f32", "1000", w.tobytes()) for w in want], []))


def main():
    rng = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as folder:
        read(rng, folder)
        read_restarted(rng, folder)
        commands(folder)
        write(folder)
    print(f"{checks} comparisons, {failures} failed")
    return 1 if failures else 0


sys.exit(main())
