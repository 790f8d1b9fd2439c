#!/usr/bin/python3
# make.py - writes the HDF5 files of the tests and of the fuzz corpus.
# SPDX-License-Identifier: Apache-2.0
"""usage: make.py FOLDER

The files are committed, so that no test needs h5py: run it again only to add
some. Element k of every dataset is a function of k."""

import os
import sys

import h5py
import numpy as np

FOLDER = sys.argv[1]


def new(name, **options):
    return h5py.File(os.path.join(FOLDER, name + ".h5"), "w", **options)


def counted(shape, kind):
    return (np.arange(np.prod(shape)) * 7 % 251).reshape(shape).astype(kind)


def add(name, shape, kind, libver="earliest", userblock_size=None, **options):
    with new(name, libver=libver, userblock_size=userblock_size) as f:
        f.create_dataset("x", data=counted(shape, kind), **options)
        f["y"] = np.arange(shape[0], dtype="i4") % 3


add("plain", (12, 6, 8, 3), "u1")
add("tiles", (12, 6, 8), "<i2", chunks=(5, 4, 3), compression="gzip",
    shuffle=True)
add("rows", (12, 6, 8), ">f4", chunks=(5, 6, 8), compression="lzf")
add("raw-tiles", (12, 6, 8), "<u2", chunks=(5, 4, 3))
add("latest", (12, 6), "<i4", libver="latest", chunks=(5, 4),
    maxshape=(None, 6), compression="gzip", fletcher32=True)
add("btree2", (12, 6), "u1", libver="latest", chunks=(2, 3),
    maxshape=(None, None), compression="gzip")
add("userblock", (12, 6), "<i2", userblock_size=512, chunks=(4, 6))
with new("fill") as f:
    d = f.create_dataset("x", (12, 6, 8), "<f8", chunks=(4, 6, 8),
                         fillvalue=0.1, compression="gzip")
    d[5] = 1
plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
plist.set_layout(h5py.h5d.COMPACT)
with new("compact") as f:
    d = h5py.h5d.create(f.id, b"x", h5py.h5t.STD_U16LE,
                        h5py.h5s.create_simple((12, 4)), plist)
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, counted((12, 4), "<u2"))

# Of the engine's stress test: tiles of gzip, tiles as they lie, numbers.
for k in range(4):
    with new(f"stress-{k}") as f:
        x = (counted((24, 4, 4, 3), "u1") + 41 * k) & 0x3f
        f.create_dataset("records_0", data=x, chunks=(5, 3, 2, 3),
                         compression="gzip", shuffle=True)
        f.create_dataset("records_1", data=x[..., 1], chunks=(7, 2, 3))
        f["weight"] = np.arange(24, dtype="<f4") / 8 + k
        f.create_dataset("label", data=np.arange(24) % 5, chunks=(9,),
                         compression="lzf")

# A link to another file, one to nothing, a view of other datasets, and a type
# whose version no libhdf5 has yet.
with new("links") as f:
    f["x"] = counted((12, 6), "u1")
    f["far"] = h5py.ExternalLink("plain.h5", "/x")
    f["group/far"] = h5py.ExternalLink("plain.h5", "/")
    f["none"] = h5py.SoftLink("/gone")
    f["alias"] = h5py.SoftLink("/x")
with new("virtual", libver="latest") as f:
    f["x"] = counted((12, 6), "u1")
    layout = h5py.VirtualLayout((12,), "i4")
    layout[:] = h5py.VirtualSource("plain.h5", "y", (12,))
    f.create_virtual_dataset("y", layout)
with new("newer") as f:
    f["x"] = counted((12, 6), "u1")
    f["mask"] = counted((12, 6), "u1") > 100
with open(os.path.join(FOLDER, "newer.h5"), "r+b") as f:
    at = f.read().index(b"FALSE\0\0\0TRUE") - 20
    f.seek(at)
    assert f.read(1) == b"\x18"  # version 1, class 8: an enumeration
    f.seek(at)
    f.write(b"\x98")
with new("left-out") as f:
    f["x"] = counted((12, 6), "u1")
    f["one"] = 3
    f["few"] = counted((5,), "<f4")
    f.create_dataset("refs", (12,), h5py.ref_dtype)

# Files of one data set, of which only the last has more.
with new("only") as f:
    f["x"] = counted((12, 6), "u1")
with new("later") as f:
    f["x"] = counted((12, 6), "u1")
    f["late"] = counted((12, 4), "<f4")
    f["a/few"] = counted((5,), "<f4")

# By plugins of Debian (bitshuffle, hdf5-filter-plugin and -blosc-serial).
for name, number, values in (
        ("lz4", 32004, (512,)), ("blosc", 32001, ()),
        ("bits", 32008, ()), ("bits-lz4", 32008, (0, 2)),
        ("bits-zstd", 32008, (0, 3))):
    if h5py.h5z.filter_avail(number):
        add(name, (12, 37, 5), "<i2", chunks=(5, 37, 5), compression=number,
            compression_opts=values)

# An enumeration of two that is not a bool, a pair that is not a complex number,
# complex numbers beside the samples, and datasets without elements.
with new("kinds") as f:
    f["x"] = counted((12, 6), "u1")
    f.create_dataset("animal", data=np.arange(12, dtype="u1") % 2,
                     dtype=h5py.enum_dtype({"cat": 0, "dog": 1}, "u1"))
    f["hollow"] = np.zeros((12, 0), "<f4")
    f["null"] = h5py.Empty("<f4")
    f["phase"] = counted((12,), "<c8")
    f["polar"] = np.zeros(12, [("radius", "<f4"), ("angle", "<f4")])
    f["rows"] = np.zeros((0, 6), "<f4")
with new("crowd") as f:
    for k in range(40):
        f[f"pictures of camera {k:02}"] = counted((3, 2), "u1")
