#!/usr/bin/python3
# safetensors_vs_numpy.py - files of an independent reader and writer, and weir's.
# SPDX-License-Identifier: Apache-2.0
"""usage: safetensors_vs_numpy.py SAFETENSORS_DUMP

A reader and a writer of the format, made from its description alone, with all
checks of the official reader. Files that it writes in every way the format
allows must be read by weir; what weir writes must be read here, with the same
tensors, aligned as promised, and with checksums that agree; files that break a
rule must be refused by both. The official library joins in where it is
installed. Exit code 1: something differs."""

import json
import os
import random
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("numpy is not installed")
    sys.exit(77)

try:
    import safetensors as official
except ImportError:
    official = None

DUMP = sys.argv[1]
CHUNK = 4 << 20
LIMIT = 100_000_000
LARGEST = 2**48 - 1
BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8,
        "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8,
        "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16,
        "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64,
        "U64": 64}
NUMPY = {"BOOL": "?", "U8": "u1", "I8": "i1", "I16": "<i2", "U16": "<u2",
         "F16": "<f2", "I32": "<i4", "U32": "<u4", "F32": "<f4", "C64": "<c8",
         "F64": "<f8", "I64": "<i8", "U64": "<u8"}
OLD = set(NUMPY) - {"C64"} | {"BF16"}   # that every official reader knows
failures = checks = 0


def check(what, got, want):
    global failures, checks
    checks += 1
    if got != want:
        failures += 1
        print(f"FAILED {what}:\n  got  {str(got)[:500]}\n  want "
              f"{str(want)[:500]}")


class Bad(Exception):
    pass


def need(good, why):
    if not good:
        raise Bad(why)


# --- the independent reader ---

def unique(pairs):
    d = dict(pairs)
    need(len(d) == len(pairs), "a key is there twice")
    return d


def refuse(text):
    raise Bad(f"{text} is not JSON")


def whole(text):
    """What begins with a '-' is no whole number from 0, not even -0."""
    return -1 if text[0] == "-" else int(text)


def number(n):
    need(type(n) is int and 0 <= n <= LARGEST, "no number")
    return n


def entry(name, e):
    need(isinstance(e, dict), "an entry is no object")
    need(isinstance(e.get("dtype"), str) and e["dtype"] in BITS, "dtype")
    need(isinstance(e.get("shape"), list), "shape")
    need(isinstance(e.get("data_offsets"), list), "data_offsets")
    need(len(e["data_offsets"]) == 2, "data_offsets")
    shape = [number(n) for n in e["shape"]]
    need(len(shape) <= 8, "too many dimensions")
    begin, end = (number(n) for n in e["data_offsets"])
    bits = 1
    for n in shape + [BITS[e["dtype"]]]:
        bits *= n
        need(bits < 2**64, "overflow")
    need(bits % 8 == 0, "bits")
    need(end - begin == bits // 8, "size")
    return begin, end, e["dtype"], shape, name


def read(data):
    """(data_offset, [(begin, end, dtype, shape, name)], metadata)"""
    need(len(data) >= 8, "too small")
    n = struct.unpack("<Q", data[:8])[0]
    need(n <= LIMIT, "too large")
    need(8 + n <= len(data), "invalid length")
    try:
        head = json.loads(data[8:8 + n].decode("utf-8"),
                          object_pairs_hook=unique, parse_constant=refuse,
                          parse_int=whole)
    except (ValueError, RecursionError) as e:
        raise Bad(str(e)) from e
    need(isinstance(head, dict), "no object")
    metadata = head.pop("__metadata__", None)
    metadata = {} if metadata is None else metadata
    need(isinstance(metadata, dict), "metadata")
    need(all(isinstance(v, str) for v in metadata.values()), "metadata")
    tensors = sorted((entry(k, v) for k, v in head.items()),
                     key=lambda t: t[:2])
    at = 0
    for begin, end, *_ in tensors:
        need(begin == at, "hole or overlap")
        at = end
    need(8 + n + at == len(data), "length of the file")
    for text in list(head) + list(metadata) + list(metadata.values()):
        need("\0" not in text, "NUL")
        need(not any(0xd800 <= ord(c) < 0xe000 for c in text), "surrogate")
    return 8 + n, tensors, metadata


# --- the independent writer ---

def write(tensors, metadata=None, pad=8, before="", indent=None):
    """`tensors`: [(name, dtype, shape, bytes)], in the order of their data; the
    head lists them in that order too."""
    head, at = {}, 0
    if metadata is not None:
        head["__metadata__"] = metadata
    for name, dtype, shape, data in tensors:
        head[name] = {"dtype": dtype, "shape": shape,
                      "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = before + json.dumps(head, indent=indent,
                               ensure_ascii=indent is not None)
    text = text.encode()
    text += b" " * (-len(text) % pad)
    return struct.pack("<Q", len(text)) + text + b"".join(
        t[3] for t in tensors)


# --- weir ---

def dump(data, again=False):
    """(reason, None, None) or (None, what weir found, weir's own file)."""
    with tempfile.TemporaryDirectory() as d:
        path, to = os.path.join(d, "f"), os.path.join(d, "to")
        with open(path, "wb") as f:
            f.write(data)
        done = subprocess.run([DUMP, path] + ["to"] * again, text=True,
                              stdout=subprocess.PIPE, check=False)
        if done.returncode == 1:
            return done.stdout, None, None
        if done.returncode:
            raise SystemExit(f"FAILED: {DUMP} ended with {done.returncode}")
        found = lines(done.stdout)
        if not again:
            return None, found, None
        with open(to, "rb") as f:
            return None, found, f.read()


def lines(text):
    offset, tensors, metadata = None, [], {}
    for line in text.splitlines():
        kind, *f = line.split("\t")
        if kind == "head":
            offset = int(f[0])
        elif kind == "tensor":
            shape = [int(n) for n in f[3].split(",")] if f[3] else []
            tensors.append((int(f[0]), int(f[1]), f[2], shape,
                            bytes.fromhex(f[4]).decode()))
        else:
            metadata[bytes.fromhex(f[0]).decode()] = bytes.fromhex(
                f[1]).decode()
    return offset, tensors, metadata


TABLE = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0x82f63b78 if i & 1 else 0)
    TABLE.append(i)


def crc32c(data):
    crc = 0xffffffff
    for b in data:
        crc = TABLE[(crc ^ b) & 255] ^ crc >> 8
    return crc ^ 0xffffffff


def check_own(what, own, tensors, metadata):
    """The file that weir wrote of these tensors."""
    try:
        offset, found, pairs = read(own)
    except Bad as e:
        check(f"{what}: weir's file is refused", str(e), None)
        return
    data = own[offset:]
    sums = "".join(f"{crc32c(data[k:k + CHUNK]):08x}"
                   for k in range(0, len(data), CHUNK))
    check(f"{what}: page alignment", offset % 4096, 0)
    check(f"{what}: metadata", pairs, {**(metadata or {}),
                                       "weir.crc32c": sums})
    widths = [BITS[t[2]] for t in found]
    check(f"{what}: wide types first", widths,
          sorted(widths, reverse=True))
    check(f"{what}: alignment",
          [t[4] for t in found if t[0] % max(1, BITS[t[2]] // 8)], [])
    check(f"{what}: order", [t[4] for t in found],
          [t[0] for t in sorted(tensors, key=lambda t: -BITS[t[1]])])
    got = {t[4]: (t[2], t[3], data[t[0]:t[1]]) for t in found}
    for name, dtype, shape, want in tensors:
        check(f"{what}: {name!r}", got.get(name), (dtype, shape, want))
        if dtype in NUMPY and name in got:
            a = np.frombuffer(got[name][2], NUMPY[dtype]).reshape(shape)
            b = np.frombuffer(want, NUMPY[dtype]).reshape(shape)
            check(f"{what}: {name!r}: values", a.tobytes(), b.tobytes())
    if official and all(t[1] in OLD for t in tensors):
        loaded = dict(official.deserialize(own))
        check(f"{what}: official names", set(loaded),
              {t[0] for t in tensors})
        for name, dtype, shape, want in tensors:
            got = loaded[name]
            check(f"{what}: official {name!r}",
                  (got["dtype"], got["shape"], bytes(got["data"])),
                  (dtype, shape, want))


def check_good(what, tensors, metadata=None, **how):
    data = write(tensors, metadata, **how)
    offset, found, pairs = read(data)
    reason, shown, own = dump(data, again=True)
    check(f"{what}: refused", reason, None)
    if reason:
        return
    check(f"{what}: as found here", (shown[0], sorted(shown[1]), shown[2]),
          (offset, sorted(found), pairs))
    check_own(what, own, tensors, metadata)


# --- the cases ---

RNG = np.random.default_rng(7)


def tensor(name, dtype, shape):
    bits = int(np.prod(shape, dtype=np.int64)) * BITS[dtype]
    data = RNG.integers(0, 256, (bits + 7) // 8, dtype=np.uint8)
    if dtype == "BOOL":
        data &= 1
    return name, dtype, list(shape), data.tobytes()


def good_files():
    every = [tensor(f"layer.{t}", t, (4, 3)) for t in BITS]
    odd = [tensor("é\n\"\\/\u202e🙂", "F32", ()), tensor("s", "F64", ()),
           tensor("z", "I64", (0,)), tensor("zz", "U8", (3, 0, 5)),
           tensor("d8", "I16", (1, 2, 1, 2, 1, 2, 1, 2)),
           tensor("odd", "U8", (7,)), tensor("half", "BF16", (3,))]
    check_good("nothing", [])
    check_good("metadata only", [], {"format": "np", "leer": "",
                                     "ü\t\"": "\\ \u0001 🙂"})
    check_good("empty metadata", odd, {})
    check_good("every type", every)
    check_good("every type backwards", every[::-1], {"format": "pt"})
    check_good("no padding", odd, pad=1)
    check_good("a page", odd, pad=4096)
    check_good("white space", odd, {"a": "b"}, before="\t\r\n ", indent=2)
    check_good("escapes", odd, {"é": "🙂"}, indent=0)
    check_good("large", [tensor("a", "U8", (3,)),
                         tensor("b", "F32", (1100, 1000))])
    check_good("one chunk", [tensor("a", "F16", (CHUNK // 2,))])
    for k in range(30):
        some = [tensor(f"{k}.{j}", random.choice(list(BITS)),
                       [random.randrange(4) for _ in range(
                           random.randrange(5))] + [4])
                for j in range(random.randrange(20))]
        check_good(f"random {k}", some, pad=random.choice([1, 8, 64]))


BAD = [b"{", b"[]", b"{}{}", b"\xff", b"{\"a\":1}", b"{\"__metadata__\":1}",
       b"{\"__metadata__\":{\"a\":1}}", b"{\"a\":{}}", b"nul", b"",
       b"{\"a\\u0000\":{\"dtype\":\"U8\",\"shape\":[0],"
       b"\"data_offsets\":[0,0]}}"]


def compare(what, data):
    """Both must come to the same verdict."""
    try:
        read(data)
        refused = None
    except Bad as e:
        refused = str(e)
    reason, _, _ = dump(data)
    check(f"{what}: {data[:300]!r}: refused (weir says {reason!r}, here "
          f"{refused!r})", bool(reason), bool(refused))
    return bool(refused)


def bad_files():
    refused = 0
    for text in BAD:
        compare("bad", struct.pack("<Q", len(text)) + text)
    for n in (0, 3, 2**63, 2**64 - 1, LIMIT, LIMIT + 1):
        compare("length", struct.pack("<Q", n) + b"{}")
    for n in range(8):
        compare("short", b"\2" + b"\0" * n)
    base = [tensor("a", "F32", (2,)), tensor("b", "U8", (3,)),
            tensor("z", "F4", (0,)), tensor("q", "F4", (2,))]
    data = write(base, {"k": "v"}, pad=1)
    compare("longer", data + b"\0")
    compare("shorter", data[:-1])
    head = struct.unpack("<Q", data[:8])[0]
    pieces = [b"0", b"1", b"8", b"4", b"-", b".", b"e", b"\"", b",", b"[",
              b"]", b"{", b"}", b":", b" ", b"\\", b"\xc3", b"\xa9", b"null",
              b"281474976710656", b"\"F6_E2M3\"", b"__metadata__", b"\x00"]
    for k in range(600):
        text = bytearray(data[8:8 + head])
        for _ in range(random.choice([1, 1, 1, 2, 3])):
            at = random.randrange(len(text))
            text[at:at + random.randrange(3)] = random.choice(pieces)
        refused += compare(f"change {k}", struct.pack("<Q", len(text)) + text
                           + data[8 + head:])
    for k in range(200):            # entries that are JSON and nothing else
        values = [random.choice([0, 1, 2, 3, 4, 8, -1, 1.5, "1", None, 2**48])
                  if random.random() < 0.2 else v
                  for v in (2, 0, 8, 3, 8, 11)]
        text = json.dumps({
            "b": {"dtype": "U8", "shape": [values[3]],
                  "data_offsets": values[4:6]},
            "a": {"dtype": random.choice(["F32"] * 9 + ["F31"]),
                  "shape": [values[0]], "data_offsets": values[1:3]},
        }).encode()
        refused += compare(f"values {k}", struct.pack("<Q", len(text)) + text
                           + b"x" * 11)
    print(f"of 800 changed files {refused} were refused by both")
    check("some changes are harmless, most are not", 400 < refused < 800, True)


random.seed(7)
assert crc32c(b"123456789") == 0xe3069283
good_files()
bad_files()
if not official:
    print("the official library is not installed: that part was left out")
print(f"{checks} checks, {failures} failed")
sys.exit(failures != 0)
