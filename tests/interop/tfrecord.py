#!/usr/bin/python3
# tfrecord.py - TFRecord shards of others are read, and ours by others.
# SPDX-License-Identifier: Apache-2.0
"""usage: tfrecord.py TFRECORD_DUMP WEIR

Writes shards with an encoder of its own (records, checksums and protobuf in
plain Python, gzip and zlib by Python's modules) and compares what weir finds in them;
reads shards that weir wrote; lets weir read those in golden/, which are
TensorFlow's. Where $WEIR_TF_PYTHON names a Python that has TensorFlow, the same
is done with TensorFlow on the other side, both ways."""

import gzip
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import zlib

DUMP, WEIR = sys.argv[1], sys.argv[2]


def make_crc_table():
    table = []
    for n in range(256):
        c = n
        for _ in range(8):
            c = (c >> 1) ^ 0x82F63B78 if c & 1 else c >> 1
        table.append(c)
    return table


CRC = make_crc_table()


def crc32c(data):
    c = 0xFFFFFFFF
    for b in data:
        c = CRC[(c ^ b) & 255] ^ (c >> 8)
    return c ^ 0xFFFFFFFF


def masked(data):
    c = crc32c(data)
    return ((c >> 15 | c << 17) + 0xA282EAD8) & 0xFFFFFFFF


# --- writing ---

def varint(v):
    v &= (1 << 64) - 1
    out = bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    out.append(v)
    return bytes(out)


def field(number, body):
    return varint(number << 3 | 2) + varint(len(body)) + body


def feature(value, packed):
    if isinstance(value, bytes):
        return field(1, field(1, value))
    if isinstance(value, float):
        return field(2, field(1, struct.pack("<f", value)))
    return field(3, field(1, varint(value)) if packed
                 else varint(8) + varint(value))


def example(features, packed=True):
    return field(1, b"".join(
        field(1, field(1, k.encode()) + field(2, feature(v, packed)))
        for k, v in features))


def record(data):
    head = struct.pack("<Q", len(data))
    return (head + struct.pack("<I", masked(head)) + data
            + struct.pack("<I", masked(data)))


# --- reading ---

def read_varint(b, at):
    v = shift = 0
    while True:
        v |= (b[at] & 127) << shift
        at += 1
        if b[at - 1] < 128:
            return v, at
        shift += 7


def fields(b):
    at = 0
    while at < len(b):
        tag, at = read_varint(b, at)
        assert tag & 7 == 2, "only fields with a length here"
        n, at = read_varint(b, at)
        assert at + n <= len(b)
        yield tag >> 3, b[at:at + n]
        at += n


def read_example(b):
    """The features as (name, value) in their order."""
    out = []
    for _, features in fields(b):
        for _, entry in fields(features):
            e = dict(fields(entry))
            (kind, lst), = fields(e[2])
            (_, value), = fields(lst)
            if kind == 3:
                value, end = read_varint(value, 0)
            out.append((e[1].decode(), value))
    return out


def read_records(b):
    at = 0
    while at < len(b):
        (n,), (crc,) = (struct.unpack_from("<Q", b, at),
                        struct.unpack_from("<I", b, at + 8))
        assert crc == masked(b[at:at + 8]), "length checksum"
        data = b[at + 12:at + 12 + n]
        (crc,) = struct.unpack_from("<I", b, at + 12 + n)
        assert crc == masked(data), "data checksum"
        yield data
        at += n + 16


# --- samples ---

def png(seed, w, h):
    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body
                + struct.pack(">I", zlib.crc32(kind + body)))
    r = random.Random(seed)
    rows = b"".join(b"\0" + bytes(r.randrange(256) for _ in range(3 * w))
                    for _ in range(h))
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def samples(shard, count):
    """(label, key, picture) of one shard; every fifth has no label."""
    return [(-1 if k % 5 == 4 else shard * 100 + k, f"s{shard}/p{k}",
             png(shard * 1000 + k, 3 + k % 7, 2 + k % 5))
            for k in range(count)]


def features_of(label, key, picture, style):
    out = [("image/encoded", picture)] if style % 2 else []
    out += [("image/filename", (key + ".png").encode()),
            ("image/height", 5), ("image/colorspace", b"RGB"),
            ("weight", 0.5)]
    if label >= 0:
        out.append(("image/class/label", label))
    if not style % 2:
        out.append(("image/encoded", picture))
    return out


def run(*args, stdin=None):
    p = subprocess.run(args, input=stdin, capture_output=True)
    if p.returncode:
        sys.exit(f"{args}: exit {p.returncode}: {p.stderr.decode()}")
    return p.stdout


def dump(path):
    return [line.split("\t")
            for line in run(DUMP, "read", path).decode().splitlines()]


def check(got, want, what):
    if got != want:
        sys.exit(f"{what}:\n got  {got}\n want {want}")
    print(f"ok: {what}")


def expected(name, shard):
    """What dump() prints for a shard's samples, without the places."""
    return [[name, str(label), str(len(p)), f"{crc32c(p):08x}", key]
            for label, key, p in shard]


def without_places(lines):
    return [[x[0]] + x[3:] for x in lines]


def write_shards(folder, shards, pack):
    want = []
    for n, shard in enumerate(shards):
        data = b"".join(
            record(example(features_of(*s, style=k), packed=k % 3 != 0))
            for k, s in enumerate(shard))
        name = f"train-{n:05}-of-{len(shards):05}"
        with open(os.path.join(folder, name), "wb") as f:
            f.write(pack(n, data))
        want += expected(name, shard)
    return want


def pack_none(_, data):
    return data


def pack_gzip(n, data):
    """Of all levels; one shard as two members."""
    half = len(data) // 2
    if n == 1:
        return gzip.compress(data[:half], 9) + gzip.compress(data[half:], 1)
    return gzip.compress(data, n % 10)


def pack_zlib(n, data):
    """Of all levels, as TFRecordOptions(compression_type="ZLIB")."""
    return zlib.compress(data, n % 10)


def weir_bench(path):
    """Samples and digest that the pipeline delivers."""
    out = run(WEIR, "bench", path, "--digest", "--no-limits", "-r", "2", "-q",
              "--size", "8x8", "-b", "4", "--json", "--no-index-cache").decode()
    return (re.search(r'"samples": (\d+)', out)[1],
            re.search(r'"digest": "(\w+)"', out)[1])


def check_own(tmp):
    shards = [samples(n, 5 + n) for n in range(4)]
    folders = {}
    for name, pack in (("plain", pack_none), ("gzip", pack_gzip),
                       ("zlib", pack_zlib)):
        folders[name] = os.path.join(tmp, name)
        os.mkdir(folders[name])
        want = write_shards(folders[name], shards, pack)
        check(without_places(dump(folders[name])), want, f"{name} shards")
    index = b"".join(b"%s %s\n" % (x[1].encode(), x[2].encode())
                     for x in dump(folders["plain"]) if "00000-of" in x[0])
    with open(os.path.join(folders["plain"], "train-00000-of-00004.idx"),
              "wb") as f:
        f.write(index)
    check(without_places(dump(folders["plain"])), want, "with an .idx file")
    plain = weir_bench(folders["plain"])
    check(plain[0], str(len(want)), "the pipeline delivers all of them")
    check(weir_bench(folders["gzip"]), plain, "and the same from gzip")
    check(weir_bench(folders["zlib"]), plain, "and the same from zlib")


def write_ours(tmp):
    """A shard by weir's writer; returns its path and what is in it."""
    want, lines = [], ""
    for label, key, picture in samples(9, 7):
        path = os.path.join(tmp, key.replace("/", "-") + ".png")
        with open(path, "wb") as f:
            f.write(picture)
        lines += f"{label} {path} {key}\n"
        w, h = struct.unpack(">II", picture[16:24])
        want.append(([("image/class/label", label),
                      ("image/class/text", b"class %d" % label)]
                     if label >= 0 else [])
                    + [("image/encoded", picture),
                       ("image/filename", (key + ".png").encode()),
                       ("image/format", b"PNG"), ("image/height", h),
                       ("image/width", w)])
    shard = os.path.join(tmp, "ours.tfrecord")
    with open(shard, "wb") as f:
        f.write(run(DUMP, "write", stdin=lines.encode()))
    return shard, want


TF_WRITE = r"""
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
picture = open(sys.argv[2], "rb").read()
t = tf.train
for name, options in (("a.tfrecord", None), ("b.tfrecord.gz", "GZIP"),
                      ("c.tfrecord.zlib", "ZLIB")):
    with tf.io.TFRecordWriter(os.path.join(sys.argv[1], name), options) as w:
        for k in range(6):
            w.write(t.Example(features=t.Features(feature={
                "image/encoded": t.Feature(
                    bytes_list=t.BytesList(value=[picture + bytes(k)])),
                "image/class/label": t.Feature(
                    int64_list=t.Int64List(value=[k * 1000])),
                "image/filename": t.Feature(
                    bytes_list=t.BytesList(value=[b"tf/%d.png" % k])),
            })).SerializeToString())
"""

TF_READ = r"""
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
for raw in tf.data.TFRecordDataset(sys.argv[1]):
    e = tf.train.Example.FromString(raw.numpy())
    print(repr(sorted((k, list(v.bytes_list.value) + list(v.int64_list.value))
                      for k, v in e.features.feature.items())))
"""


def check_tensorflow_shards(folder, picture, names):
    """What TF_WRITE makes of a picture."""
    with open(picture, "rb") as f:
        picture = f.read()
    made = [(k * 1000, f"tf/{k}", picture + bytes(k)) for k in range(6)]
    check(without_places(dump(folder)),
          [x for name in names for x in expected(name, made)],
          f"shards written by TensorFlow ({os.path.basename(folder)})")


def check_golden():
    """The same, written once by TensorFlow 2."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden",
                          "tensorflow")
    check_tensorflow_shards(folder, os.path.join(folder, "picture.png"),
                            ["a.tfrecord", "b.tfrecord.gz"])


def check_tensorflow(tmp, shard, want):
    python = os.environ.get("WEIR_TF_PYTHON")
    if not python or subprocess.run([python, "-c", "import tensorflow"],
                                    capture_output=True).returncode:
        print("skipped: TensorFlow ($WEIR_TF_PYTHON names no Python with it)")
        return
    folder, picture = os.path.join(tmp, "tf"), os.path.join(tmp, "tf.png")
    os.mkdir(folder)
    with open(picture, "wb") as f:
        f.write(png(1, 9, 9))
    run(python, "-c", TF_WRITE, folder, picture)
    check_tensorflow_shards(folder, picture, ["a.tfrecord", "b.tfrecord.gz",
                                              "c.tfrecord.zlib"])
    got = run(python, "-c", TF_READ, shard).decode().splitlines()
    check(got, [repr(sorted((k, [v]) for k, v in w)) for w in want],
          "our shard read by TensorFlow")


def check_late(tmp):
    """A feature that only a later record has is named."""
    path = os.path.join(tmp, "late.tfrecord")
    with open(path, "wb") as f:
        for k in range(20):
            late = [("late", k)] if k == 18 else []
            f.write(record(example([("x", k / 4)] + late)))
    for more, want in (([], "the first 16 samples"), (["--verify"], "'late'")):
        remarks = json.loads(run(WEIR, "inspect", path, "--json",
                                 *more))["remarks"]
        check([want in r for r in remarks], [True], f"a late feature {more}")


with tempfile.TemporaryDirectory() as tmp:
    check_own(tmp)
    check_late(tmp)
    check_golden()
    shard, want = write_ours(tmp)
    with open(shard, "rb") as f:
        check([read_example(r) for r in read_records(f.read())], want,
              "our shard read by plain Python")
    check_tensorflow(tmp, shard, want)
