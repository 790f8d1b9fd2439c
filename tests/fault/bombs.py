#!/usr/bin/env python3
# bombs.py - small files that claim, or unpack to, a lot.
# SPDX-License-Identifier: Apache-2.0
#
# A case makes files of 10 MB at most and lets the command read them ($WEIR). It
# may refuse them with the reason or read them, but takes no more than 1 GB of
# memory; and to open them, 20 seconds of processor time (what is then read of
# millions of samples takes as long as millions of samples do). `bombs.py CASE...`
# runs some of them, `bombs.py` all; --list names them.
import ctypes
import gzip
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import zlib

WEIR = os.environ["WEIR"]
MEMORY_MAX = 1000 << 20
SECONDS_MAX = 20
MIB = 1 << 20
CASES = {}


class Skipped(Exception):
    pass


def case(make):
    CASES[make.__name__.replace("_", "-")] = make
    return make


# --- making files ---

def packed(*parts):
    """(bytes, times) ... as members of gzip that follow each other."""
    out = b""
    for data, times in parts:
        out += gzip.compress(data, 9, mtime=0) * times
    assert len(out) <= 10 * MIB, len(out)
    return out


def deflated(*parts):
    """The same as one stream of deflate, without a wrapper."""
    out = b""
    for data, times in parts:
        z = zlib.compressobj(9, wbits=-15)
        out += (z.compress(data) + z.flush(zlib.Z_FULL_FLUSH)) * times
    return out + b"\x03\x00"


def put(folder, name, data):
    assert len(data) <= 11 * MIB, (name, len(data))
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


ZEROS = bytes(16 * MIB)


# --- what the command takes for it ---

def run(*args):
    """Runs the command; its output and what it took. The exit code is 0, or 1
    with a reason."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([WEIR, *args], stdout=out,
                                 stderr=subprocess.STDOUT,
                                 env={**os.environ, "WEIR_INDEX_DIR": ""})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode(errors="replace")
    seconds = usage.ru_utime + usage.ru_stime
    return child.returncode, usage.ru_maxrss << 10, seconds, text


def check(name, *args):
    code, memory, seconds, text = run(*args)
    print(f"{name:24} {args[0]:8} {memory / MIB:7.0f} MiB {seconds:6.1f} s "
          f"exit {code}: {(text.strip() or '-').splitlines()[-1][:150]}",
          flush=True)
    return (code in (0, 1) and (code == 0 or text) and memory <= MEMORY_MAX
            and (args[0] == "bench" or seconds <= SECONDS_MAX))


def reads(path, *options):
    """Opening a data set, and reading it."""
    yield "inspect", path, *options
    yield "bench", path, "--epochs", "1", "-t", "2", "-q", "--no-limits", \
        *options


# --- shards ---

def tar_head(name, size, kind=tarfile.REGTYPE):
    member = tarfile.TarInfo(name)
    member.size = size
    member.type = kind
    return member.tobuf(tarfile.GNU_FORMAT)  # sizes beyond 8 GiB, too


@case
def tar_gz(folder):
    """One member of 3.9 GB."""
    n = 240
    yield from reads(put(folder, "a.tar.gz", packed(
        (tar_head("a.jpg", n * len(ZEROS)), 1), (ZEROS, n))))


@case
def tar_gz_members(folder):
    """Millions of members, all empty."""
    heads = tar_head("a.jpg", 0) * 32768
    yield from reads(put(folder, "a.tar.gz", packed((heads, 140))))


@case
def tar_gz_samples(folder):
    """Millions of samples: names that differ."""
    heads = b"".join(tar_head(f"{k:05}.jpg", 0) for k in range(32768))
    yield from reads(put(folder, "a.tar.gz", packed((heads, 60))))


@case
def tar_pax(folder):
    """Headers that go on and on."""
    text = b"999999 a=" + b"x" * (999999 - 10) + b"\n"
    head = tar_head("a", len(text), tarfile.XHDTYPE)
    head += text + bytes(-len(text) % 512)
    yield from reads(put(folder, "a.tar", head * 9 + tar_head("a.jpg", 0)))


@case
def tar_gz_pax(folder):
    text = b"999999 a=" + b"x" * (999999 - 10) + b"\n"
    head = tar_head("a", len(text), tarfile.XHDTYPE)
    head += text + bytes(-len(text) % 512)
    yield from reads(put(folder, "a.tar.gz", packed((head * 16, 200))))


def crc32c(data):
    """One bit at a time: for a few bytes."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xa282ead8)
                       & 0xffffffff)


def record_head(size):
    head = struct.pack("<Q", size)
    return head + masked(head)


@case
def tfrecord_gz(folder):
    """One record of 3.9 GB."""
    n = 240
    yield from reads(put(folder, "a.tfrecord", packed(
        (record_head(n * len(ZEROS)), 1), (ZEROS, n), (bytes(4), 1))))


@case
def tfrecord_gz_records(folder):
    """Records of no bytes."""
    records = (record_head(0) + masked(b"")) * MIB
    yield from reads(put(folder, "a.tfrecord", packed((records, 240))))


@case
def tfrecord_claims(folder):
    yield from reads(put(folder, "a.tfrecord",
                         record_head(1 << 40) + bytes(9 * MIB)))


@case
def tfrecord_features(folder):
    """An example of five million features."""
    inner = b"\x0a\x00" * (4 * MIB)  # whose checksum is wrong
    n, length = len(inner), b""
    while n > 127:
        length += bytes([n & 127 | 128])
        n >>= 7
    example = b"\x0a" + length + bytes([n]) + inner
    record = record_head(len(example)) + example + bytes(4)
    yield from reads(put(folder, "a.tfrecord", record))


# --- text ---

@case
def csv_gz_line(folder):
    """A line without an end."""
    yield from reads(put(folder, "a.csv.gz", packed(
        (b"a,b\n1,", 1), (b"1" * len(ZEROS), 240))), "--format", "csv")


@case
def csv_gz_quote(folder):
    yield from reads(put(folder, "a.csv.gz", packed(
        (b'a,b\n1,"', 1), (b"1\n" * (8 * MIB), 240))), "--format", "csv")


@case
def csv_gz_records(folder):
    yield from reads(put(folder, "a.csv.gz", packed(
        (b"a,b\n", 1), (b"1,2\n" * (4 * MIB), 240))), "--format", "csv")


@case
def csv_gz_words(folder):
    rows = b"".join(b"w%d,1\n" % k for k in range(200000))
    yield from reads(put(folder, "a.csv.gz", packed(
        (b"label,x\n" + rows, 10))), "--format", "csv")


@case
def csv_columns(folder):
    yield from reads(put(folder, "a.csv", b"," * (5 * MIB) + b"\n" +
                         b"," * (4 * MIB)), "--format", "csv")


@case
def csv_gz_columns(folder):
    yield from reads(put(folder, "a.csv.gz", packed((b"," * 15000000 + b"\n",
                                                     100))), "--format", "csv")


@case
def csv_lines(folder):
    yield from reads(put(folder, "a.csv", b"a\n" * (5 * MIB - 10)), "--format", "csv")


@case
def json_gz_array(folder):
    """Numbers, each of which is a record."""
    yield from reads(put(folder, "a.json.gz", packed(
        (b"[0", 1), (b",0" * (8 * MIB), 240), (b"]", 1))))


@case
def jsonl_gz_line(folder):
    yield from reads(put(folder, "a.jsonl.gz", packed(
        (b'{"a":"', 1), (b"1" * len(ZEROS), 240))))


@case
def jsonl_gz_records(folder):
    yield from reads(put(folder, "a.jsonl.gz", packed(
        (b'{"a":1}\n' * (2 * MIB), 240))))


@case
def json_deep(folder):
    yield from reads(put(folder, "a.json", b"[" * (9 * MIB)))


@case
def json_objects(folder):
    yield from reads(put(folder, "a.json", b"[" + b"{}," * (3 * MIB) + b"{}]"))


@case
def json_keys(folder):
    keys = b",".join(b'"%x":0' % k for k in range(900000))
    yield from reads(put(folder, "a.jsonl", b"{" + keys + b"}\n"))


# --- arrays ---

def npy_head(shape, dtype="|u1"):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def zip_of(members):
    """Members of (name, packed, size, crc), deflated; two of the same bytes
    share them."""
    out, directory, places = b"", b"", {}
    for name, data, size, crc in members:
        if id(data) not in places:
            places[id(data)] = len(out)
            out += struct.pack("<IHHHHHIIIHH", 0x04034b50, 20, 0, 8, 0, 33,
                               crc, len(data), size, len(name), 0)
            out += name + data
        directory += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014b50, 20, 20, 0, 8,
                                 0, 33, crc, len(data), size, len(name), 0, 0,
                                 0, 0, 0, places[id(data)]) + name
    return out + directory + struct.pack(
        "<IHHHHIIH", 0x06054b50, 0, 0, len(members) & 0xffff,
        len(members) & 0xffff, len(directory), len(out), 0)


@case
def npz(folder):
    """Rows of 256 MB, of which a file unpacks to 3.8 GB."""
    parts = ((npy_head("(15, 268435456)"), 1), (ZEROS, 240))
    yield from reads(put(folder, "a.npz", zip_of(
        [(b"x.npy", deflated(*parts), 128 + 240 * len(ZEROS), 0)])))


@case
def npz_rows(folder):
    """Four billion samples of a byte."""
    parts = ((npy_head("(4026531840,)"), 1), (ZEROS, 240))
    yield from reads(put(folder, "a.npz", zip_of(
        [(b"x.npy", deflated(*parts), 128 + 240 * len(ZEROS), 0)])))


@case
def npy_claims(folder):
    yield from reads(put(folder, "a.npy", npy_head("(1099511627776, 1024)") +
                         bytes(9 * MIB)))


@case
def npy_head_long(folder):
    text = b"{" + b" " * (9 * MIB) + b"}\n"
    yield from reads(put(folder, "a.npy", b"\x93NUMPY\x02\x00" +
                         struct.pack("<I", len(text)) + text))


@case
def indexed_binary(folder):
    put(folder, "a.bin", bytes(64))
    n = MIB
    put(folder, "a.bin.off.idx", struct.pack("<Q", 0) * n)
    yield from reads(put(folder, "a.bin.sz.idx", struct.pack("<Q", 64) * n)[:-7])


# --- pictures ---

def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data)))


def png_of(width, height, depth, kind, channels):
    row = 1 + width * channels * depth // 8
    z = zlib.compressobj(9)
    data = b"".join(z.compress(bytes(row)) for _ in range(height)) + z.flush()
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(
        ">IIBBBBB", width, height, depth, kind, 0, 0, 0)) +
            chunk(b"IDAT", data) + chunk(b"IEND", b""))


def pictures(folder, name, data, most=4):
    """As many of them as 10 MB have, for threads that decode them at once."""
    os.mkdir(folder + "/set")
    for k in range(max(1, min(most, 10 * MIB // len(data)))):
        put(folder + "/set", f"{k}{name}", data)
    yield "inspect", folder + "/set"
    yield ("bench", folder + "/set", "--epochs", "1", "-t", "2", "-q")


@case
def png(folder):
    yield from pictures(folder, ".png", png_of(16384, 16383, 8, 2, 3))


@case
def png_deep(folder):
    yield from pictures(folder, ".png", png_of(16384, 16383, 16, 6, 4))


@case
def png_text(folder):
    """A comment that unpacks to 1 GB."""
    z = zlib.compress(ZEROS * 60, 9)
    data = png_of(8, 8, 8, 2, 3)
    yield from pictures(folder, ".png", data[:33] + chunk(
        b"iCCP", b"a\0\0" + z) + chunk(b"zTXt", b"a\0\0" + z) + data[33:])


def jpeg_of(sof):
    """Empty scans of a large picture."""
    table = bytes([0] * 16)
    out = b"\xff\xd8\xff\xdb\0\x43\0" + b"\1" * 64
    out += b"\xff" + sof + b"\0\x11\x08" + struct.pack(">HH", 16383, 16383)
    out += b"\3\1\x22\0\2\x11\0\3\x11\0"
    for k in (0, 0x10):
        out += b"\xff\xc4\0\x14" + bytes([k, 1]) + table[1:] + b"\0"
    scan = b"\xff\xda\0\x0c\3\1\0\2\0\3\0\0\x3f\0"
    if sof == b"\xc2":
        scan = b"\xff\xda\0\x0c\3\1\0\2\0\3\0\0\0\0" * 1000
    return out + scan + bytes(4096) + b"\xff\xd9"


@case
def jpeg(folder):
    yield from pictures(folder, ".jpg", jpeg_of(b"\xc0"))


@case
def jpeg_progressive(folder):
    yield from pictures(folder, ".jpg", jpeg_of(b"\xc2"))


@case
def gif(folder):
    """A large screen with many small pictures, and one as large as it."""
    size = struct.pack("<HH", 16383, 16383)
    small = b"\x2c\0\0\0\0\1\0\1\0\0\2\2\x44\1\0"
    large = b"\x2c\0\0\0\0" + size + b"\0\2\2\x44\1\0"
    yield from pictures(folder, ".gif", b"GIF89a" + size + b"\x80\0\0" +
                        bytes(6) + large + small * 1000 + b"\x3b")


@case
def bmp(folder):
    """Runs of one byte each."""
    head = b"BM" + struct.pack("<IIIIiiHHIIiiII", 1078 + 4, 0, 1078, 40, 16383,
                               16383, 1, 8, 1, 4, 0, 0, 256, 0)
    yield from pictures(folder, ".bmp", head + bytes(1024) + b"\0\1" * 2)


@case
def tiff(folder):
    """One strip, deflated."""
    n = 16383
    data = zlib.compress(bytes(n * 256 * 3), 9)
    z = zlib.compressobj(9)
    data = b"".join(z.compress(bytes(n * 3)) for _ in range(n)) + z.flush()
    tags = [(256, 4, n), (257, 4, n), (258, 3, 8), (259, 3, 8), (262, 3, 2),
            (273, 4, 8), (277, 3, 3), (278, 4, n), (279, 4, len(data))]
    ifd = struct.pack("<H", len(tags)) + b"".join(
        struct.pack("<HHII", t, kind, 1, v) for t, kind, v in tags)
    ifd += bytes(4)
    yield from pictures(folder, ".tif", b"II*\0" +
                        struct.pack("<I", 8 + len(data)) + data + ifd)


@case
def webp(folder):
    """A canvas of 2^28 pixels in 20 bytes (lossless, all of one color)."""
    n = 16383
    bits = (n - 1) | (n - 1) << 14
    head = b"\x2f" + struct.pack("<I", bits)
    # No transform, no cache, no meta code; five codes of one symbol, 0.
    body = 0b0 | 0 << 1 | 0 << 2
    at = 3
    for _ in range(5):
        body |= 0b0001 << at  # simple code, one symbol, of one bit: 0
        at += 4
    data = head + body.to_bytes(8, "little")
    vp8l = b"VP8L" + struct.pack("<I", len(data)) + data + bytes(len(data) & 1)
    yield from pictures(folder, ".webp", b"RIFF" + struct.pack(
        "<I", 4 + len(vp8l)) + b"WEBP" + vp8l)


# --- traces, records, manifests ---

def library(name):
    try:
        return ctypes.CDLL(name)
    except OSError as why:
        raise Skipped(f"needs {name}") from why


def summed(data, seed):
    function = library("libxxhash.so.0").XXH3_64bits_withSeed
    function.restype = ctypes.c_uint64
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    return function(data, len(data), seed)


def zstd(data):
    lib = library("libzstd.so.1")
    lib.ZSTD_compress.restype = ctypes.c_size_t
    lib.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t,
                                  ctypes.c_char_p, ctypes.c_size_t,
                                  ctypes.c_int]
    room = ctypes.create_string_buffer(len(data) + MIB)
    n = lib.ZSTD_compress(room, len(room), data, len(data), 3)
    return room.raw[:n]


def number(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def record(body):
    return number(len(body)) + body


def trace_chunk(kind, items, raw, coding=1):
    stored = zstd(raw) if coding else raw
    head = struct.pack("<IHHIIII", 0x4b4e4843, kind, coding, len(stored),
                       len(raw), items, 0)
    return head + struct.pack("<Q", summed(stored, summed(head, 0))) + stored


def trace(folder, chunks):
    # A larger file may say more: a part of an unknown kind fills it up.
    rest = trace_chunk(99, 0, bytes(10 * MIB - len(chunks)), coding=0)
    path = put(folder, "a.trace", b"WEIRTRC1" + struct.pack("<II", 1, 0) +
               rest + chunks)
    yield "report", path


@case
def trace_names(folder):
    """Names of 64 KB, each of one letter."""
    body = number(0) + number(1) + number(0) + number(65001) + b"a" * 65000
    one = trace_chunk(2, 1000, record(body) * 1000)
    yield from trace(folder, one * 45)


@case
def trace_numbers(folder):
    """Millions of names, without any text."""
    out = b""
    for first in range(0, 4000000, 1000000):
        raw = b"".join(record(number(k) + b"\1\0\1")
                       for k in range(first, first + 1000000))
        out += trace_chunk(2, 1000000, raw)
        if len(out) > 9 * MIB:
            break
    yield from trace(folder, out)


@case
def trace_processes(folder):
    out = b""
    for first in range(0, 1500000, 500000):
        raw = b"".join(record(number(k) + b"\0" * 20)
                       for k in range(first, first + 500000))
        more = trace_chunk(3, 500000, raw)
        if len(out) + len(more) > 10 * MIB:
            break
        out += more
    yield from trace(folder, out)


@case
def trace_texts(folder):
    """What was run, of 16 MB, time and again."""
    body = b"\0" * 6 + number((15 << 20) + 1) + b"a" * (15 << 20) + b"\0" * 7
    one = trace_chunk(1, 1, record(body))
    yield from trace(folder, one * 170)


@case
def record_objects(folder):
    yield "report", put(folder, "a.json", b'{"a":[' + b"{}," * (3 * MIB) +
                        b"{}]}")


@case
def record_arrays(folder):
    yield "report", put(folder, "a.json", b'{"a":[' + b"[]," * (3 * MIB) +
                        b"[]]}")


@case
def safetensors_head(folder):
    text = b"{" + b",".join(
        b'"%x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}' % k
        for k in range(180000)) + b"}"
    yield "inspect", put(folder, "a.safetensors",
                         struct.pack("<Q", len(text)) + text)


@case
def list_rows(folder):
    """Files that are not there."""
    yield "inspect", put(folder, "a.lst", b"a.jpg,1\n" * MIB)


def main(names):
    failed = []
    for name in names or CASES:
        folder = tempfile.mkdtemp(prefix="weir-bombs-")
        try:
            for args in CASES[name](folder):
                if not check(name, *args):
                    failed.append(f"{name} ({args[0]})")
        except Skipped as why:
            print(f"{name}: skipped: {why}")
        finally:
            shutil.rmtree(folder)
    assert not failed, "too much memory or time, or no reason: " + ", ".join(
        failed)


if sys.argv[1:] == ["--list"]:
    print(" ".join(CASES))
else:
    main(sys.argv[1:])
