#!/usr/bin/python3
# webdataset.py - archives of tarfile, NumPy and PIL as weir delivers them.
# SPDX-License-Identifier: Apache-2.0
"""usage: webdataset.py NPZ_DUMP WEIR

Samples of pictures, arrays of every type and order, text and labels in plain and
gzip shards: what a pipeline delivers must be what the others read from the same
members. Exit code 1: something differs."""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile

try:
    import numpy as np
    from PIL import Image
except ImportError:
    print("numpy or PIL is not installed")
    sys.exit(77)

DUMP, WEIR = sys.argv[1:3]
SIDE = 224  # as pictures come out: nothing is scaled
TYPES = {"|b1": "bool", "|i1": "i8", "|u1": "u8", "<i2": "i16", ">u2": "u16",
         "<i4": "i32", ">i8": "i64", "<u8": "u64", "<f2": "f16", "<f4": "f32",
         ">f8": "f64", "<c8": "c64"}
failures = checks = 0


def check(what, got, want):
    global failures, checks
    checks += 1
    if got != want:
        failures += 1
        print(f"FAILED {what}:\n  got  {str(got)[:600]}\n  want {str(want)[:600]}")


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def png(pixels):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def write(path, samples):
    """samples: (key, [(ending, bytes)])"""
    mode = "w:gz" if path.endswith("gz") else "w"
    with tarfile.open(path, mode) as t:
        for key, members in samples:
            for ending, data in members:
                info = tarfile.TarInfo(f"{key}.{ending}")
                info.size = len(data)
                t.addfile(info, io.BytesIO(data))


def dump(path, fields=None, batch=3, cache="-"):
    """{(id, field): (dtype, dims, bytes)}, labels, other lines"""
    env = dict(os.environ)
    if fields:
        env["FIELDS"] = fields
    r = subprocess.run([DUMP, path, "-", str(batch), cache], capture_output=True,
                       text=True, env=env)
    got, labels, other = {}, {}, []
    for line in r.stdout.splitlines():
        words = line.split(" ")
        if len(words) == 5 and words[0].isdigit():
            got[int(words[0]), words[1]] = (words[2], words[3],
                                            bytes.fromhex(words[4]))
        elif len(words) == 3 and words[1] == "labels":
            labels[int(words[0])] = int(words[2])
        else:
            other.append(line)
    if r.returncode:
        other.append(f"exit {r.returncode} {r.stderr}")
    return got, labels, other


def schema(path):
    r = subprocess.run([WEIR, "inspect", "--no-index-cache", "--quiet",
                        "--json", path], stdout=subprocess.PIPE)
    return [(f["name"], f["kind"], f["extra"])
            for f in json.loads(r.stdout)["fields"]]


def pixels(rng, side=SIDE):
    return rng.integers(0, 256, (side, side, 3), dtype=np.uint8)


def all_kinds(rng, folder, ending):
    """Two pictures, a fixed and a varying array, text and a label."""
    want, shards = [], [[], []]
    for k in range(7):
        image = pixels(rng)
        mask = rng.integers(0, 2, (SIDE, SIDE), dtype=np.uint8) * 255
        emb = rng.standard_normal((4, 5)).astype("f4")
        boxes = rng.integers(0, 99, (k % 3, 4), dtype="i8")
        text = b"words " * k
        want.append((image, mask, emb, boxes, text))
        shards[k // 4].append((f"d/{k:03}", [
            ("boxes.npy", npy(boxes)), ("cls", str(k % 5).encode()),
            ("emb.npy", npy(emb)), ("image.png", png(image)),
            ("mask.png", png(mask)), ("txt", text)]))
    for s, samples in enumerate(shards):
        write(os.path.join(folder, f"s{s}{ending}"), samples)
    got, labels, other = dump(folder)
    what = "all kinds " + ending
    check(what, other, [])
    check(what, schema(folder),
          [("image.png", "picture", False), ("mask.png", "picture", False),
           ("boxes.npy", "tensor", False), ("emb.npy", "tensor", False),
           ("txt", "bytes", True), ("boxes.npy.dim0", "scalar", False),
           ("label", "scalar", False)])
    check(what, labels, {k: k % 5 for k in range(7)})
    check(what, len(got), 7 * 6)
    check(what + ", cached", dump(folder, cache="ram:64MiB"), (got, labels, []))
    text_got, _, other = dump(folder, "txt")
    check(what, other, [])
    for k, (image, mask, emb, boxes, text) in enumerate(want):
        grey = np.repeat(mask[:, :, None], 3, 2)
        check(what, got[k, "image.png"][2], image.tobytes())
        check(what, got[k, "mask.png"][2], grey.tobytes())
        check(what, got[k, "emb.npy"], ("f32", "4x5", emb.tobytes()))
        check(what, got[k, "boxes.npy"], ("i64", "?x4", boxes.tobytes()))
        check(what, got[k, "boxes.npy.dim0"][2],
              np.int64(len(boxes)).tobytes())
        check(what, text_got[k, "txt"][2], text)


def types(rng, folder):
    """Every type, in C and Fortran order, of 0 to 3 dimensions."""
    for n, (kind, name) in enumerate(TYPES.items()):
        shape = [(), (5,), (2, 3), (2, 3, 4)][n % 4]
        raw = [rng.integers(0, 2 if kind == "|b1" else 100, shape)
               for _ in range(4)]
        arrays = [np.array(x).astype(kind) for x in raw]
        if len(shape) > 1 and n % 3:
            arrays = [np.asfortranarray(x) for x in arrays]
        path = os.path.join(folder, f"type{n}.tar")
        write(path, [(f"{k}", [("npy", npy(x))]) for k, x in enumerate(arrays)])
        got, _, other = dump(path)
        check(kind, other, [])
        for k, x in enumerate(arrays):
            little = np.ascontiguousarray(x).astype(x.dtype.newbyteorder("<"))
            check(f"{kind} {shape}", got.get((k, "npy")),
                  (name, "x".join(map(str, shape)), little.tobytes()))


def absent(rng, folder):
    """A sample that lacks a picture is bad once, and named with its field."""
    path = os.path.join(folder, "absent.tar")
    samples = [(str(k), [("jpg", png(pixels(rng))), ("seg.png",
                                                     png(pixels(rng)))])
               for k in range(6)]
    del samples[2][1][1]
    write(path, samples)
    got, _, other = dump(path, batch=2)
    check("absent", sorted({k for k, _ in got}), [0, 1, 3, 4, 5])
    check("absent", [x for x in other if not x.startswith("bad 2: ")], [])
    check("absent", len(other), 1)
    check("absent", "field 'seg.png'" in other[0] and
          "does not have it" in other[0], True)
    got, _, other = dump(path, "jpg", batch=2)
    check("absent, not wanted", (len(got), other), (6, []))

    path = os.path.join(folder, "absent-array.tar")
    samples = [(str(k), [("a.npy", npy(np.full((3, 3), k, "f4"))),
                         ("b.npy", npy(np.full(7, k, "i8")))])
               for k in range(6)]
    del samples[4][1][0]
    write(path, samples)
    got, _, other = dump(path, batch=2)
    check("absent array", sorted({k for k, _ in got}), [0, 1, 2, 3, 5])
    check("absent array", len(other) == 1 and "field 'a.npy'" in other[0],
          True)


def only_text(folder):
    path = os.path.join(folder, "text.tar.gz")
    write(path, [(str(k), [("txt", b"x" * k), ("cls", b"%d" % k)])
                 for k in range(5)])
    got, labels, other = dump(path)
    check("text", other, [])
    check("text", [got[k, "txt"][2] for k in range(5)],
          [b"x" * k for k in range(5)])
    check("text", labels, {k: k for k in range(5)})


def main():
    rng = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as folder:
        for ending in (".tar", ".tar.gz"):
            sub = os.path.join(folder, "all" + ending)
            os.mkdir(sub)
            all_kinds(rng, sub, ending)
        types(rng, folder)
        absent(rng, folder)
        only_text(folder)
    print(f"{checks} comparisons, {failures} failed")
    return 1 if failures else 0


sys.exit(main())
