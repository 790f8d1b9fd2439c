#!/usr/bin/python3
# npz_vs_numpy.py - arrays that NumPy writes and weir reads, and the other way.
# SPDX-License-Identifier: Apache-2.0
"""usage: npz_vs_numpy.py NPZ_DUMP WEIR

Every type, both byte orders, C and Fortran order, stored and deflated, .npy and
.npz: what a pipeline delivers must be what numpy.load gives. What weir writes
must be what numpy.load can read, with the same values. Exit code 1: something
differs."""

import os
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy as np
except ImportError:
    print("numpy is not installed")
    sys.exit(77)

DUMP, WEIR = sys.argv[1:3]
NAMES = {"b1": "bool", "i1": "i8", "u1": "u8", "i2": "i16", "u2": "u16",
         "i4": "i32", "u4": "u32", "i8": "i64", "u8": "u64", "f2": "f16",
         "f4": "f32", "f8": "f64", "c8": "c64"}
failures = 0
checks = 0


def check(what, good, *more):
    global failures, checks
    checks += 1
    if not good:
        failures += 1
        print("FAIL", what, *more)


def dump(path, schema="-", batch=3, *more):
    r = subprocess.run([DUMP, path, schema, str(batch), *more],
                       capture_output=True, text=True)
    fields, labels, other = {}, {}, []
    for line in r.stdout.splitlines():
        words = line.split(" ")
        if len(words) == 5 and words[0].isdigit():
            fields[int(words[0]), words[1]] = (words[2], words[3],
                                               bytes.fromhex(words[4]))
        elif len(words) == 3 and words[1] == "labels":
            labels[int(words[0])] = int(words[2])
        else:
            other.append(line)
    if r.returncode:
        other.append(f"exit {r.returncode} {r.stderr}")
    return fields, labels, other


def numbers(rng, shape, kind):
    if kind[0] == "f":
        return rng.standard_normal(shape).astype(kind)
    if kind[0] == "c":
        return (rng.standard_normal(shape) +
                1j * rng.standard_normal(shape)).astype(kind)
    if kind == "b1":
        return rng.integers(0, 2, shape).astype(bool)
    bits = np.iinfo(np.dtype(kind))
    return rng.integers(bits.min, bits.max, shape, dtype=kind, endpoint=True)


def same(got, name, i, want, kind):
    """Is entry (i, name) the array `want`?"""
    if (i, name) not in got:
        return False
    dtype, _, raw = got[i, name]
    little = np.ascontiguousarray(want).astype("<" + kind)
    return dtype == NAMES[kind] and raw == little.tobytes()


def types(rng, folder):
    """One file of every type, order and byte order."""
    for kind in NAMES:
        for end in "<>":
            for fortran in (False, True):
                for how in ("npy", "npz", "deflated"):
                    x = numbers(rng, (5, 3, 4), kind).astype(end + kind)
                    y = rng.integers(0, 100, 5)
                    if fortran:
                        x = np.asfortranarray(x)
                    what = f"{end}{kind} fortran {fortran} {how}"
                    path = os.path.join(folder, "t." + how[:3])
                    if how == "npy":
                        np.save(path, x)
                        np.save(os.path.join(folder, "t.labels.npy"), y)
                    else:
                        path = os.path.join(folder, "t.npz")
                        save = np.savez if how == "npz" else np.savez_compressed
                        save(path, x=x, y=y)
                    got, labels, other = dump(path)
                    check(what, not other, other)
                    for i in range(5):
                        check(what, same(got, "x", i, x[i], kind), i,
                              got.get((i, "x")), x[i])
                        check(what, labels.get(i) == y[i], labels, y)


def axes(rng, folder):
    """Samples along the last axis, one per file, files of several lengths."""
    for fortran in (False, True):
        for deflated in (False, True):
            counts = (4, 1, 6)
            path = os.path.join(folder, f"last-{fortran}-{deflated}")
            os.mkdir(path)
            save = np.savez_compressed if deflated else np.savez
            want, want_y = [], []
            for k, n in enumerate(counts):
                x = numbers(rng, (3, 5, n), "i4")
                y = np.arange(n) + 10 * k
                want += [x[:, :, i] for i in range(n)]
                want_y += list(y)
                save(f"{path}/{k}.npz", y=y,
                     x=np.asfortranarray(x) if fortran else x)
            for schema in ("-", "axis=last"):
                got, labels, other = dump(path, schema)
                check("last", not other, other)
                for i, w in enumerate(want):
                    check(f"last {fortran} {deflated} {schema}",
                          same(got, "x", i, w, "i4"), i, got.get((i, "x")), w)
                    check("last label", labels.get(i) == want_y[i], labels)
    path = os.path.join(folder, "whole")
    os.mkdir(path)
    want = []
    for k in range(4):
        x = numbers(rng, (3, 4, 2), "f8")
        want.append(x)
        np.savez(f"{path}/{k}.npz", x=np.asfortranarray(x), label=k * k)
    got, labels, other = dump(path, "axis=file")
    check("file", not other, other)
    for i, w in enumerate(want):
        check("file", same(got, "x", i, w, "f8"), i, got.get((i, "x")))
        check("file label", labels.get(i) == i * i, labels)


def varying(rng, folder):
    """One sample per file, each of its own size."""
    for deflated in (False, True):
        path = os.path.join(folder, f"vary-{deflated}")
        os.mkdir(path)
        save = np.savez_compressed if deflated else np.savez
        want = []
        for k in range(7):
            x = numbers(rng, (1, 3 + k, 4 + k % 2), "u2")
            want.append(x[0])
            save(f"{path}/{k}.npz", x=x, y=np.array([k]))
        got, labels, other = dump(path)
        check("vary", not other, other)
        for i, w in enumerate(want):
            check("vary", same(got, "x", i, w, "u2"), i)
            check("vary shape", got.get((i, "x"), (0, 0))[1] == "?x?", i)
            for d in range(2):
                raw = got.get((i, f"x.dim{d}"), (0, 0, b""))[2]
                check("vary dims", int.from_bytes(raw, "little") == w.shape[d],
                      i, d, raw)


def several(rng, folder):
    """Several arrays are several fields; numbers per sample are scalars."""
    for deflated in (False, True):
        path = os.path.join(folder, f"several-{deflated}")
        os.mkdir(path)
        save = np.savez_compressed if deflated else np.savez
        rows = []
        for k, n in enumerate((4, 4, 2)):
            image = numbers(rng, (n, 6, 5, 3), "u1")
            mask = numbers(rng, (n, 6, 5), "i2").astype(">i2")
            weight = numbers(rng, (n,), "f4")
            target = rng.integers(-2**62, 2**62, n)
            save(f"{path}/{k}.npz", image=image, mask=mask, weight=weight,
                 target=target)
            rows += list(zip(image, mask, weight, target))
        for schema in ("-", "label=target"):
            got, labels, other = dump(path, schema)
            check("several", not other, other)
            for i, (image, mask, weight, target) in enumerate(rows):
                check("image", same(got, "image", i, image, "u1"), i)
                check("mask", same(got, "mask", i, mask, "i2"), i)
                check("weight", same(got, "weight", i, weight, "f4"), i)
                check("target", same(got, "target", i, target, "i8"), i)
        got, _, other = dump(path, "-", 3, "ram:1MiB")
        check("cached", not other, other)
        for i, (image, mask, _, _) in enumerate(rows):
            check("cached", same(got, "image", i, image, "u1") and
                  same(got, "mask", i, mask, "i2"), i)


def converted(rng, folder):
    """Every type to every other one: values that both have are astype's."""
    path = os.path.join(folder, "c.npz")
    for kind in NAMES:
        if kind == "c8":
            continue
        low, high = (0, 1) if kind == "b1" else (0, 100)
        x = (rng.random((4, 40)) * (high - low) + low).astype(kind)
        if kind[0] in "if":
            x = -x
        np.savez(path, x=x.astype(">" + kind), w=x)
        for to in NAMES:
            if to == "c8" or (to[0] in "ub" and x.min() < 0):
                continue
            want = x.astype(to)
            for cache in ("-", "ram:1MiB"):
                got, _, other = dump(path, "-", 3, cache, "x", NAMES[to])
                check("convert", not other, kind, to, other)
                for i in range(4):
                    check("convert", same(got, "x", i, want[i], to), kind, to,
                          i, got.get((i, "x")), want[i])
                    check("not converted", same(got, "w", i, x[i], kind), kind)


def refused(rng, folder):
    """What cannot be read says why."""
    x = np.arange(6).reshape(2, 3)
    cases = {
        "objects": (dict(x=np.array([{}, 1], dtype=object)), "Python objects"),
        "strings": (dict(x=np.array(["a", "b"])), "strings"),
        "structured": (dict(x=np.zeros(2, [("a", "f4"), ("b", "i2")])),
                       "structured"),
        "complex": (dict(x=x.astype("c16")), "none of"),
        "lengths": (dict(x=x, z=np.arange(9).reshape(3, 3)), "samples along"),
    }
    for name, (arrays, why) in cases.items():
        path = os.path.join(folder, name + ".npz")
        np.savez(path, **arrays)
        _, _, other = dump(path)
        check(name, any(why in line for line in other), other)
    path = os.path.join(folder, "bzip2.npz")
    np.save(os.path.join(folder, "m.npy"), x)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as z:
        z.write(os.path.join(folder, "m.npy"), "m.npy")
    _, _, other = dump(path)
    check("bzip2", any("method 12" in line for line in other), other)
    # A byte of the deflated data: the sample is bad, the checksum tells.
    path = os.path.join(folder, "damaged.npz")
    np.savez_compressed(path, x=numbers(rng, (4, 3000), "u1"))
    raw = bytearray(open(path, "rb").read())
    raw[6000] ^= 255
    open(path, "wb").write(raw)
    got, _, other = dump(path)
    check("damaged", not got and any("bad" in line or "next" in line
                                     for line in other), other)


def written(folder):
    """What weir writes, NumPy reads."""
    for to in ("npy", "npz", "npz-deflated"):
        for dtype in ("u8", "i8", "i16", "u16", "i32", "u32", "i64", "u64",
                      "f16", "f32", "f64"):
            path = os.path.join(folder, f"gen-{to}-{dtype}")
            subprocess.run([WEIR, "gen", "tensors", path, "--to", to,
                            "--shape", "5x7x3", "--dtype", dtype, "--samples",
                            "6", "--samples-per-file", "4"], check=True,
                           capture_output=True)
            got, labels, other = dump(path)
            check("gen", not other, other)
            i = 0
            for name in sorted(os.listdir(path)):
                if name.endswith(".labels.npy") or name.startswith("."):
                    continue
                z = np.load(os.path.join(path, name))
                x = z if to == "npy" else z["x"]
                if to != "npy":
                    check("y", list(z["y"]) == list(range(i, i + len(x))))
                for sample in x:
                    kind = sample.dtype.str[1:]
                    check(f"gen {to} {dtype}", NAMES[kind] == dtype and
                          same(got, "x", i, sample, kind), i)
                    check("gen labels", labels.get(i) == i, labels)
                    i += 1
            check("gen count", i == 6, i)


def main():
    rng = np.random.default_rng(13)
    with tempfile.TemporaryDirectory() as folder:
        for part in (types, axes, varying, several, converted, refused):
            inner = os.path.join(folder, part.__name__)
            os.mkdir(inner)
            part(rng, inner)
        written(folder)
    print(f"{checks} checks, {failures} failures")
    return 1 if failures else 0


sys.exit(main())
