#!/usr/bin/python3
# hdf5_vs_h5py.py - files that h5py writes and weir reads, and the other way.
# SPDX-License-Identifier: Apache-2.0
"""usage: hdf5_vs_h5py.py NPZ_DUMP HDF5_MAKE

Every type in both byte orders, every layout, chunk index and filter, chunks that
cut samples, edges, fill values, userblocks: what a pipeline delivers must be what
h5py reads. What cannot be read is refused by name. Exit code 1: something
differs."""

import os
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError:
    print("h5py is not installed")
    sys.exit(77)

DUMP, MAKE = sys.argv[1:3]
NAMES = {"b1": "bool", "i1": "i8", "u1": "u8", "i2": "i16", "u2": "u16",
         "i4": "i32", "u4": "u32", "i8": "i64", "u8": "u64", "f2": "f16",
         "f4": "f32", "f8": "f64", "c8": "c64"}
failures = 0
checks = 0
rng = np.random.default_rng(5)
folder = tempfile.TemporaryDirectory(prefix="weir-hdf5-")
os.environ["WEIR_INDEX_DIR"] = os.path.join(folder.name, "index")


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


def numbers(shape, kind):
    kind = np.dtype(kind)
    if kind.kind == "f":
        return rng.standard_normal(shape).astype(kind)
    if kind.kind == "c":
        return (rng.standard_normal(shape) + 1j).astype(kind)
    if kind.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    # Some structure, so that packing packs.
    return (rng.integers(0, 100, shape) // 7).astype(kind)


def path(name):
    return os.path.join(folder.name, name + ".h5")


def same(what, url, wanted, label=None, schema="-"):
    """wanted: name -> array, first axis counts samples."""
    fields, labels, other = dump(url, schema)
    check(what, not other, other[:3])
    for name, a in wanted.items():
        native = np.ascontiguousarray(a.astype(a.dtype.newbyteorder("=")))
        kind = NAMES[native.dtype.str[1:]]
        dims = "x".join(str(d) for d in native.shape[1:])
        for i in range(len(native)):
            got = fields.get((i, name))
            if got != (kind, dims, native[i].tobytes()):
                check(f"{what}: {name}[{i}]", False,
                      got and (got[0], got[1], got[2][:16].hex()),
                      (kind, dims, native[i].tobytes()[:16].hex()))
                break
        else:
            check(what, len({k for k, n in fields if n == name}) == len(native))
    if label is not None:
        check(what + ": labels",
              [labels.get(i) for i in range(len(label))] == list(label),
              list(labels.items())[:4])


def refused(what, url, *words, schema="-"):
    _, _, other = dump(url, schema)
    text = " ".join(other)
    check(what, other and all(w in text for w in words), text)


# --- types and byte orders ---

for kind in NAMES:
    for order in "<>":
        if kind in ("b1", "i1", "u1") and order == ">":
            continue
        name = f"type-{kind}-{'le' if order == '<' else 'be'}"
        a = numbers((7, 3, 5), order + kind)
        y = np.arange(7, dtype=order + "i4") % 3
        with h5py.File(path(name), "w") as f:
            f["x"] = a
            f["y"] = y
        same(name, path(name), {"x": a}, y)
        with h5py.File(path(name + "-z"), "w") as f:
            f.create_dataset("x", data=a, chunks=(2, 2, 5), compression="gzip",
                             shuffle=True)
            f.create_dataset("y", data=y, chunks=(3,), compression="gzip")
        same(name + "-z", path(name + "-z"), {"x": a}, y)

# --- layouts ---

FILTERS = {"none": {}, "gzip": {"compression": "gzip"},
           "shuffle": {"shuffle": True, "compression": "gzip"},
           "fletcher": {"fletcher32": True},
           "all": {"shuffle": True, "compression": "gzip", "fletcher32": True},
           "lzf": {"compression": "lzf"},
           "lzf-shuffle": {"compression": "lzf", "shuffle": True},
           "only-shuffle": {"shuffle": True}}
CHUNKS = {"one": (1, 6, 8), "rows": (4, 6, 8), "tiles": (4, 3, 4),
          "edges": (5, 4, 3), "small": (1, 2, 2), "big": (11, 6, 8)}
for filters, options in FILTERS.items():
    for chunks, shape in CHUNKS.items():
        for libver in ("earliest", "latest"):
            name = f"{filters}-{chunks}-{libver}"
            a = numbers((11, 6, 8), "<i4")
            with h5py.File(path(name), "w", libver=libver) as f:
                f.create_dataset("x", data=a, chunks=shape, **options)
            same(name, path(name), {"x": a})

# Chunk indexes of libver latest: fixed and extensible arrays, B-tree v2, implicit.
a = numbers((40, 6, 8), "<i2")
for name, maxshape in (("fixed", None), ("extensible", (None, 6, 8)),
                       ("btree2", (None, None, 8)), ("btree2-all", (None,) * 3)):
    for libver in ("earliest", "latest"):
        for packed in (None, "gzip"):
            what = f"index-{name}-{libver}-{packed}"
            with h5py.File(path(what), "w", libver=libver) as f:
                f.create_dataset("x", data=a, chunks=(3, 4, 8),
                                 maxshape=maxshape, compression=packed)
            same(what, path(what), {"x": a})
space = h5py.h5s.create_simple(a.shape)
plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
plist.set_chunk((3, 4, 8))
plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
with h5py.File(path("implicit"), "w", libver="latest") as f:
    d = h5py.h5d.create(f.id, b"x", h5py.h5t.STD_I16LE, space, plist)
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, a)
same("implicit", path("implicit"), {"x": a})

# Compact data, a userblock, chunks larger than the data.
for libver in ("earliest", "latest"):
    for n in (4, 500):
        small = numbers((n, 4, 8), "<u2")
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        what = f"compact-{libver}-{n}"
        with h5py.File(path(what), "w", libver=libver) as f:
            d = h5py.h5d.create(f.id, b"x", h5py.h5t.STD_U16LE,
                                h5py.h5s.create_simple(small.shape), plist)
            d.write(h5py.h5s.ALL, h5py.h5s.ALL, small)
        same(what, path(what), {"x": small})
    for chunks in (None, (4, 3, 4)):
        what = f"userblock-{libver}-{chunks}"
        with h5py.File(path(what), "w", libver=libver,
                       userblock_size=1024) as f:
            f.create_dataset("x", data=a, chunks=chunks,
                             compression="gzip" if chunks else None)
        same(what, path(what), {"x": a})
    what = f"wide-{libver}"
    with h5py.File(path(what), "w", libver=libver) as f:
        f.create_dataset("x", data=a, chunks=(64, 16, 16),
                         maxshape=(None, None, None), compression="lzf")
    same(what, path(what), {"x": a})

# Random bytes do not pack: stored sizes above the raw ones, filters skipped.
noise = rng.integers(0, 256, (9, 50, 7), dtype="u1")
for filters, options in FILTERS.items():
    what = "noise-" + filters
    with h5py.File(path(what), "w") as f:
        f.create_dataset("x", data=noise, chunks=(2, 9, 7), **options)
    same(what, path(what), {"x": noise})

# A filter that was not applied to one chunk.
with h5py.File(path("mask"), "w") as f:
    d = f.create_dataset("x", shape=(4, 6, 8), chunks=(2, 6, 8), dtype="<i2",
                         compression="gzip", shuffle=True)
    raw = numbers((2, 6, 8), "<i2")
    d[2:] = raw + 1
    d.id.write_direct_chunk((0, 0, 0), raw.tobytes(), 0b11)
same("mask", path("mask"), {"x": np.concatenate([raw, raw + 1])})

# Partial edge chunks that are not filtered (H5D_CHUNK_DONT_FILTER_PARTIAL).
if hasattr(h5py.h5p.PropDCID, "set_chunk_opts"):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((3, 4, 5))
    plist.set_chunk_opts(2)
    plist.set_deflate(4)
    with h5py.File(path("edge"), "w", libver="latest") as f:
        d = h5py.h5d.create(f.id, b"x", h5py.h5t.STD_I16LE, space, plist)
        d.write(h5py.h5s.ALL, h5py.h5s.ALL, a)
    same("edge", path("edge"), {"x": a})

# --- fill values ---

for kind, fill in (("<f8", 0.1), (">f8", -7.25), ("<f4", np.nan), (">i2", 258),
                   ("u1", 9), ("<i8", 1 << 40), ("<f8", None)):
    for chunks, packed in ((None, None), ((2, 3, 4), None),
                           ((2, 3, 4), "gzip"), ((3, 6, 8), "gzip")):
        what = f"fill-{kind}-{fill}-{chunks}-{packed}"
        with h5py.File(path(what), "w") as f:
            d = f.create_dataset("x", shape=(7, 6, 8), dtype=kind, chunks=chunks,
                                 compression=packed, fillvalue=fill)
            if chunks:
                d[3, 2:4, 1:6] = 5
            wanted = d[...]
        same(what, path(what), {"x": wanted})
with h5py.File(path("fill-all"), "w") as f:
    f.create_dataset("x", shape=(7, 6, 8), dtype="<i4", chunks=(2, 3, 8),
                     fillvalue=3)
    f.create_dataset("y", shape=(7,), dtype="<i4", fillvalue=2)
same("fill-all", path("fill-all"), {"x": np.full((7, 6, 8), 3, "<i4")}, [2] * 7)

# --- which datasets ---

b = numbers((40, 3), "<f4")
y = np.arange(40) % 7
with h5py.File(path("named"), "w") as f:
    f["g/a"] = a
    f["g/b"] = b
    f["y"] = y
    f["weight"] = np.linspace(0, 1, 40)
    f["names"] = ["a"] * 40
    f["complex"] = np.zeros((40, 2), "c8")
    f.create_dataset("ragged", (40,), dtype=h5py.vlen_dtype("i4"))
    f["table"] = np.zeros(40, dtype=[("p", "f4"), ("q", "i4")])
url = path("named")
same("named", url + "#data=/g/a,label=/y", {"data": a}, y)
same("named: two", url + "#image=/g/a,mask=g/b,label=/y",
     {"image": a, "mask": b}, y)
same("named: other order", url + "#label=/y,mask=g/b,image=/g/a",
     {"image": a, "mask": b}, y)
fields, _, other = dump(url + "#data=/g/a,w=/weight")
check("scalar", fields.get((39, "w")) == ("f64", "", np.float64(1).tobytes()),
      other, fields.get((39, "w")))
refused("several", url, "Name it", "/g/a 40x6x8")
refused("missing", url + "#data=/nothing", "no dataset 'nothing'")
refused("strings", url + "#data=/names", "/names", "variable length")
same("complex", url + "#data=/complex", {"data": np.zeros((40, 2), "c8")})
refused("vlen", url + "#data=/ragged", "/ragged", "variable length")
refused("compound", url + "#data=/table", "/table", "compound")
refused("group", url + "#data=/g", "'/g': a group")

refused("unequal", url + "#data=/g/a,x=/short", "no dataset")
with h5py.File(path("dlio"), "w", libver="latest") as f:
    for k in range(3):
        f[f"records_{k}"] = numbers((6, 4, 2), "u1") + k
    f["labels"] = np.arange(6)
    dlio = {f"records_{k}": f[f"records_{k}"][...] for k in range(3)}
same("dlio", path("dlio"), dlio, range(6))

# Strings of a fixed length are their bytes; enumerations are no bool by chance.
double = np.random.default_rng(3).standard_normal((40, 3, 2)).view("c16")[..., 0]
words = np.array([f"word {k}" for k in range(40)], "S9")
for name, options in (("plain", {}), ("packed", {"chunks": (7,),
                      "compression": "gzip", "shuffle": True})):
    with h5py.File(path("words-" + name), "w") as f:
        f["x"] = b
        f.create_dataset("double", data=double,
                         **{**options, **({"chunks": (7, 2)} if options else {})})
        f.create_dataset("line", data=double[:, 0].astype(">c16"), **options)
        f.create_dataset("words", data=words, **options)
        f.create_dataset("pair", data=words.reshape(20, 2))
        f["grade"] = y.astype("u1") % 2 * 5
        f.create_dataset("kind", data=y.astype("u1") % 2 * 5,
                         dtype=h5py.enum_dtype({"A": 0, "B": 5}, "u1"))
        f.create_dataset("filled", (40,), "S9", fillvalue=b"none")
    url = path("words-" + name)
    same("words " + name, url + "#x=/x,words=/words",
         {"x": b, "words": words.view("u1").reshape(40, 9)})
    same("words alone " + name, url + "#words=/words",
         {"words": words.view("u1").reshape(40, 9)})
    same("pair " + name, url + "#p=/pair",
         {"p": words.view("u1").reshape(20, 2, 9)})
    refused("filled", url + "#x=/filled", "fill value")
    same("double", url + "#x=/double",
         {"x": double.view("f8").reshape(40, 3, 2)})
    same("line", url + "#x=/line",
         {"x": np.ascontiguousarray(double[:, 0]).view("f8").reshape(40, 2)})
    fields, _, other = dump(url + "#x=/x,kind=/kind")
    check("kind", fields.get((1, "kind")) == ("i64", "", np.int64(5).tobytes()),
          other, fields.get((1, "kind")))
with h5py.File(path("words-found"), "w") as f:
    f["x"] = b
    f["words"] = words
    f["y"] = y
same("words found", path("words-found"),
     {"x": b, "words": words.view("u1").reshape(40, 9)}, y)

# Many files, and each of them one sample.
os.mkdir(os.path.join(folder.name, "many"))
parts = [numbers((n, 4, 4), "<f4") for n in (3, 5, 1)]
for k, part in enumerate(parts):
    with h5py.File(os.path.join(folder.name, "many", f"{k}.h5"), "w") as f:
        f.create_dataset("x", data=part, chunks=(2, 4, 4) if k == 1 else None)
        f["y"] = np.full(len(part), k)
same("many", os.path.join(folder.name, "many"), {"x": np.concatenate(parts)},
     [0] * 3 + [1] * 5 + [2])
os.mkdir(os.path.join(folder.name, "single"))
cam = numbers((3, 12, 10, 4), "<f4")
mask = numbers((3, 12, 10), "<i2")
for k in range(3):
    with h5py.File(os.path.join(folder.name, "single", f"{k}.h5"), "w") as f:
        f.create_dataset("climate/data", data=cam[k], chunks=(5, 10, 4),
                         compression="gzip")
        f["climate/labels_0"] = mask[k]
same("single", os.path.join(folder.name, "single") +
     "#data=/climate/data,mask=/climate/labels_0",
     {"data": cam, "mask": mask}, schema="axis=file")

# --- what cannot be read ---

with h5py.File(path("external"), "w") as f:
    f.create_dataset("x", (4, 4), "u1", external=[("raw.bin", 0, 16)])
refused("external", path("external"), "external")
layout = h5py.VirtualLayout(shape=(4, 4), dtype="u1")
layout[:] = h5py.VirtualSource("other.h5", "x", shape=(4, 4))
with h5py.File(path("virtual"), "w", libver="latest") as f:
    f.create_virtual_dataset("x", layout)
refused("virtual", path("virtual"), "virtual")
with h5py.File(path("szip"), "w") as f:
    f.create_dataset("x", data=a, chunks=(4, 6, 8), scaleoffset=3)
refused("filter", path("szip"), "scaleoffset")
with open(path("text"), "w") as f:
    f.write("no HDF5 at all")
refused("text", path("text"), "not an HDF5 file")
whole = open(path("type-f4-le"), "rb").read()
with open(path("cut"), "wb") as f:
    f.write(whole[:len(whole) // 2])
refused("cut", path("cut"), "cut.h5")
writer = h5py.File(path("swmr"), "w", libver="latest")
writer.create_dataset("x", data=a, chunks=(4, 6, 8))
writer.flush()
refused("writer", path("swmr"), "a writer")
writer.close()
same("no writer", path("swmr"), {"x": a})
with h5py.File(path("tiny"), "w") as f:
    f.create_dataset("x", data=numbers((3, 64, 64), "u1"), chunks=(1, 1, 1))
refused("tiny", path("tiny"), "more than 1024 chunks", "convert")

# --- files that weir writes ---

KINDS = {"x": "f4", "half": "f2", "group/double": "f8", "u8": "u1", "i8": "i1",
         "i16": "i2", "u16": "u2", "i32": "i4", "u32": "u4", "i64": "i8",
         "u64": "u8", "bool": "b1", "labels": "i8"}
SIZES = ((5, 5), (300, 300), (300, 299), (300, 7), (9, 0))
for planned, samples, rows in ((*s, r) for s in SIZES for r in (0, 1, 16, 999)):
    what = f"written-{planned}-{samples}-{rows}"
    r = subprocess.run([MAKE, folder.name, what + ".h5", str(planned),
                        str(samples), *([str(rows)] if rows else [])],
                       capture_output=True, text=True)
    check(what, r.returncode == 0, r.stdout, r.stderr)
    if r.returncode:
        continue
    check(what + ": size", int(r.stdout) == os.path.getsize(path(what)))
    with h5py.File(path(what)) as f:
        wanted = {}
        for number, (name, kind) in enumerate(KINDS.items()):
            d = f[name]
            check(f"{what}: {name}", d.dtype == np.dtype(kind) and
                  d.shape[0] == samples, d)
            cut = None
            if rows and samples and name != "labels":
                cut = (min(rows, samples), *(n * 2 // 3 for n in d.shape[1:]))
            check(f"{what}: {name} chunks", d.chunks == cut, d.chunks, cut)
            each = np.dtype(kind).itemsize * int(np.prod(d.shape[1:]))
            i, k = np.mgrid[0:samples, 0:each]
            b = ((i * 31 + k * 7 + number) % 64).astype("u1")
            b = b & 1 if kind == "b1" else b
            wanted[name] = d[...]
            check(f"{what}: {name} bytes", d[...].tobytes() == b.tobytes())
    if samples:
        same(what, path(what) + "#x=/x,labels=labels",
             {"x": wanted["x"]})

print(f"{checks} checks, {failures} failures")
sys.exit(1 if failures else 0)
