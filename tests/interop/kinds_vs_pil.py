#!/usr/bin/python3
# kinds_vs_pil.py - every other kind of picture than JPEG and PNG against PIL.
# SPDX-License-Identifier: Apache-2.0
"""usage: kinds_vs_pil.py PICTURE_DUMP [--report]

Makes BMP, PNM, GIF, WebP and TIFF files of every sort, with PIL and by hand,
lets picture-dump decode them and compares with PIL's convert('RGB'): lossless
kinds bit by bit, lossy ones closely. Where PIL cannot read a file, or clips 16
bits to 8, the pixels that went in are what must come out. Exit code 77:
skipped."""

import io
import os
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image
except ImportError as e:
    print(f"skipped: {e} (python3-pil and python3-numpy are needed)")
    sys.exit(77)

DUMP = sys.argv[1]
REPORT = "--report" in sys.argv
MISSING = b"was built without"
failures = 0
checks = 0
rng = np.random.default_rng(7)


def scene(w, h):
    y, x = np.mgrid[0:h, 0:w].astype(float)
    a = np.stack([128 + 120 * np.sin(x / 9 + y / 17), 255 * y / max(h - 1, 1),
                  128 + 120 * np.cos(x / 5)], 2)
    a += rng.normal(0, 4, (h, w, 3))
    return a.clip(0, 255).astype(np.uint8)


def saved(a, form, mode=None, **kw):
    im = a if isinstance(a, Image.Image) else Image.fromarray(a)
    b = io.BytesIO()
    (im.convert(mode) if mode else im).save(b, form, **kw)
    return b.getvalue()


def pil(data):
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def run(path, w, h, *rest):
    args = [DUMP, path, w, h, 3, "u8", "nhwc", "bilinear", "exact", *rest]
    return subprocess.run([str(a) for a in args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def compare(name, out, want, mean, largest):
    global failures, checks
    checks += 1
    d = np.array([1e9])
    if len(out) == want.size:
        got = np.frombuffer(out, np.uint8).reshape(want.shape)
        d = np.abs(got.astype(int) - want)
    ok = d.mean() <= mean and d.max() <= largest
    failures += not ok
    if REPORT or not ok:
        print(f"{'ok  ' if ok else 'FAIL'} {name:40s} "
              f"mean {d.mean():.3f} max {d.max()}")


def check(path, name, data, want=None, mean=0.0, largest=0):
    """One file: whole, cropped, and resized; then cut off, which must fail."""
    global failures, checks
    with open(path, "wb") as f:
        f.write(data)
    r = run(path, 0, 0)
    if MISSING in r.stderr:
        return False
    if want is None:
        want = pil(data)
    want = np.asarray(want)
    if r.returncode:
        print(f"FAIL {name}: {r.stderr.decode().strip()}")
        failures += 1
        return True
    compare(name, r.stdout, want, mean, largest)
    h, w = want.shape[:2]
    if w > 4 and h > 4:
        x, y, cw, ch = w // 4, h // 3, w // 2, h // 2
        compare(name + " crop", run(path, cw, ch, x, y, cw, ch).stdout,
                want[y:y + ch, x:x + cw], mean, largest)
    small = np.asarray(Image.fromarray(want.astype(np.uint8)).resize((40, 30), Image.BILINEAR))
    compare(name + " resized", run(path, 40, 30).stdout, small, mean + 0.5,
            largest + 3)
    if "animated" in name:
        return True  # its first frame may be there
    with open(path, "wb") as f:
        f.write(data[:len(data) * 2 // 3])
    checks += 1
    r = run(path, 0, 0)
    if r.returncode != 1 or not r.stderr:
        print(f"FAIL {name}: decoded although a third of it is missing")
        failures += 1
    return True


# --- BMP ---

def pack_rows(index, bits):
    h, w = index.shape
    out = b""
    for row in index:
        b = np.unpackbits(row[:, None], axis=1)[:, 8 - bits:].reshape(-1)
        packed = np.packbits(b).tobytes()
        out += packed + b"\0" * (-len(packed) % 4)
    return out


def bmp(w, h, bits, pixels, palette=b"", compression=0, masks=b"", head=40,
        colors=0):
    if head == 12:
        info = struct.pack("<IHHHH", 12, w, h, 1, bits)
    else:
        info = struct.pack("<IiiHHIIiiII", 40, w, h, 1, bits, compression,
                           len(pixels), 2835, 2835, colors, 0)
        if head > 40:
            info = struct.pack("<I", head) + info[4:]
            info += masks + b"\0" * (head - 40 - len(masks))
            masks = b""
    at = 14 + len(info) + len(masks) + len(palette)
    return (b"BM" + struct.pack("<IHHI", at + len(pixels), 0, 0, at) + info +
            masks + palette + pixels)


def rle(index, bits):
    """Runs where there are some, else pixels as they are."""
    def nibbles(values):
        v = list(values) + [0] * (len(values) % 2)
        return bytes(a << 4 | b for a, b in zip(v[::2], v[1::2]))
    out = b""
    for row in index[::-1]:
        x = 0
        while x < len(row):
            n = 1
            while x + n < len(row) and n < 255 and row[x + n] == row[x]:
                n += 1
            if n >= 3 or len(row) - x < 3:
                value = row[x] if bits == 8 else row[x] << 4 | row[x]
                out += bytes([n, value])
            else:
                n = min(len(row) - x, 7)
                body = (bytes(row[x:x + n].tolist()) if bits == 8
                        else nibbles(row[x:x + n].tolist()))
                out += bytes([0, n]) + body + b"\0" * (len(body) % 2)
            x += n
        out += b"\0\0"
    return out + b"\0\1"


def bmps():
    a = scene(67, 41)
    h, w = a.shape[:2]
    yield "24", saved(a, "BMP"), None
    yield "8 gray", saved(a, "BMP", "L"), None
    yield "1", saved(a, "BMP", "1"), None
    yield "32 RGBA", saved(a, "BMP", "RGBA"), None
    quant = Image.fromarray(a).quantize(200)
    yield "8 palette", saved(quant, "BMP"), None
    for bits in (1, 2, 4, 8):
        n = 1 << bits
        colours = rng.integers(0, 256, (n, 3), np.uint8)
        index = rng.integers(0, n, (h, w), np.uint8)
        quads = b"".join(bytes(c[::-1]) + b"\0" for c in colours)
        pixels = pack_rows(index[::-1], bits)
        want = colours[index]
        data = bmp(w, h, bits, pixels, quads)
        yield f"palette {bits} bit", data, want
        yield (f"palette {bits} bit, OS/2",
               bmp(w, h, bits, pixels,
                   b"".join(bytes(c[::-1]) for c in colours), head=12), want)
        yield (f"palette {bits} bit, top down",
               bmp(w, -h, bits, pack_rows(index, bits), quads), want)
        if bits in (1, 4, 8):
            yield f"palette {bits} bit as PIL", data, None
    for bits in (4, 8):
        n = 1 << bits
        colours = rng.integers(0, 256, (n, 3), np.uint8)
        index = (scene(w, h)[:, :, 1] // (256 // n)).astype(np.uint8)
        index[5] = rng.integers(0, n, w)
        quads = b"".join(bytes(c[::-1]) + b"\0" for c in colours)
        yield (f"RLE{bits}", bmp(w, h, bits, rle(index, bits), quads,
                                 2 if bits == 4 else 1), colours[index])
    deep = a.astype(np.uint32)
    v = (deep[..., 0] >> 3 << 10) | (deep[..., 1] >> 3 << 5) | deep[..., 2] >> 3
    rows = b"".join(r.astype("<u2").tobytes() + b"\0" * (w * 2 % 4)
                    for r in v[::-1])
    yield "16 bit 555", bmp(w, h, 16, rows), None
    v = (deep[..., 0] >> 3 << 11) | (deep[..., 1] >> 2 << 5) | deep[..., 2] >> 3
    rows = b"".join(r.astype("<u2").tobytes() + b"\0" * (w * 2 % 4)
                    for r in v[::-1])
    masks = struct.pack("<III", 0xf800, 0x7e0, 0x1f)
    yield "16 bit 565", bmp(w, h, 16, rows, b"", 3, masks), None
    yield "16 bit 565, V4", bmp(w, h, 16, rows, b"", 3, masks, 108), None
    v = deep[..., 0] << 24 | deep[..., 1] << 16 | deep[..., 2] << 8 | 7
    rows = v[::-1].astype("<u4").tobytes()
    masks = struct.pack("<III", 0xff000000, 0xff0000, 0xff00)
    yield "32 bit RGBX", bmp(w, h, 32, rows, b"", 3, masks, 108), None
    v = deep[..., 0] << 16 | deep[..., 1] << 8 | deep[..., 2]
    rows = v[::-1].astype("<u4").tobytes()
    yield "32 bit", bmp(w, h, 32, rows), None
    v = deep[..., 0] << 22 | deep[..., 1] << 12 | deep[..., 2] << 2
    masks = struct.pack("<III", 1023 << 20, 1023 << 10, 1023)
    yield ("32 bit 10:10:10", bmp(w, h, 32, v[::-1].astype("<u4").tobytes(),
                                  b"", 3, masks, 124),
           (deep * 4 * 255 // 1023).astype(np.uint8))
    yield "1x1", saved(scene(1, 1), "BMP"), None


# --- PNM ---

def pnms():
    a = scene(53, 37)
    h, w = a.shape[:2]
    yield "P6", saved(a, "PPM"), None
    yield "P5", saved(a, "PPM", "L"), None
    yield "P4", saved(a, "PPM", "1"), None
    head = b"P%d # a comment\n%d # another\n%d\n"
    text = b" ".join(b"%d" % v for v in a.reshape(-1))
    yield "P3", head % (3, w, h) + b"255\n" + text + b"\n", None
    yield "P2", head % (2, w, h) + b"9\n" + b"\n".join(
        b"%d" % (v // 26) for v in a[..., 0].reshape(-1)) + b"\n", None
    bits = (a[..., 0] > 99).astype(int)
    yield "P1", head % (1, w, h) + b"\n".join(
        b"".join(b"%d" % v for v in row) for row in bits) + b"\n", None
    yield "P6 of 100", b"P6\n%d %d\n100\n" % (w, h) + (
        a.astype(int) * 100 // 255).astype(np.uint8).tobytes(), None
    deep = a.astype(np.uint16) * 4
    yield ("P6 of 1020", b"P6 %d %d 1020\n" % (w, h) +
           deep.astype(">u2").tobytes(), None)
    g = deep[..., 1]
    want = np.repeat(np.rint(g / 1020 * 255).astype(np.uint8)[..., None], 3, 2)
    yield ("P5 of 1020", b"P5 %d %d 1020\n" % (w, h) +
           g.astype(">u2").tobytes(), want)
    yield "1x1", saved(scene(1, 1), "PPM"), None


# --- GIF ---

def gif(screen, frames, palette=None, background=0):
    """frames: (index, x, y, palette or None, transparent or None, interlaced);
    codes are never longer than 9 bits."""
    def table(p):
        bits = max(1, (len(p) - 1).bit_length())
        return bits - 1, p.tobytes() + bytes(3 * ((1 << bits) - len(p)))
    out = b"GIF89a" + struct.pack("<HH", *screen)
    if palette is None:
        out += bytes([0, background, 0])
    else:
        bits, data = table(palette)
        out += bytes([0x80 | bits, background, 0]) + data
    for index, x, y, local, transparent, interlaced in frames:
        if transparent is not None:
            out += b"!\xf9\x04" + bytes([1, 0, 0, transparent, 0])
        h, w = index.shape
        flags = 0x40 if interlaced else 0
        data = b""
        if local is not None:
            bits, data = table(local)
            flags |= 0x80 | bits
        out += b"," + struct.pack("<HHHHB", x, y, w, h, flags) + data
        if interlaced:
            index = np.concatenate([index[0::8], index[4::8], index[2::4],
                                    index[1::2]])
        codes = []
        for k, v in enumerate(index.reshape(-1)):
            if k % 250 == 0:
                codes.append(256)
            codes.append(int(v))
        number = sum(c << (9 * k) for k, c in enumerate(codes + [257]))
        lzw = number.to_bytes((9 * len(codes) + 9 + 7) // 8, "little")
        out += b"\x08"
        for k in range(0, len(lzw), 255):
            out += bytes([len(lzw[k:k + 255])]) + lzw[k:k + 255]
        out += b"\0"
    return out + b";"


def gifs():
    a = scene(61, 43)
    q = Image.fromarray(a).quantize(200)
    yield "interlaced", saved(q, "GIF", interlace=1), None
    yield "rows", saved(q, "GIF", interlace=0), None
    yield "gray", saved(a, "GIF", "L"), None
    yield "two colours", saved(a, "GIF", "1"), None
    yield "transparent", saved(q, "GIF", transparency=7), None
    yield "animated", saved(q, "GIF", save_all=True, append_images=[
        Image.fromarray(a[::-1]).quantize(40)], duration=9), None
    colours = rng.integers(0, 256, (256, 3), np.uint8)
    other = rng.integers(0, 256, (256, 3), np.uint8)
    index = rng.integers(0, 256, (19, 23), np.uint8)
    for interlaced in (False, True):
        for transparent in (None, 5):
            yield (f"part {interlaced} {transparent}",
                   gif((40, 31), [(index, 9, 7, None, transparent, interlaced)],
                       colours, 9), None)
    yield "own palette", gif((40, 31), [(index, 3, 4, other, None, True)],
                             colours), None
    yield "no palette", gif((23, 19), [(index, 0, 0, None, None, False)]), None
    yield ("larger than its screen",
           gif((8, 9), [(index, 1, 2, other, 3, False)]), None)
    for h in (1, 2, 3, 5, 9):
        yield (f"interlaced {h} rows",
               gif((23, h), [(index[:h], 0, 0, None, None, True)], colours),
               None)


# --- WebP ---

def webps():
    a = scene(75, 49)
    rgba = Image.fromarray(a)
    rgba.putalpha(Image.fromarray(a[:, :, 0]))
    yield "lossless", saved(a, "WEBP", lossless=True), None
    yield "lossless RGBA", saved(rgba, "WEBP", lossless=True, exact=True), None
    yield "lossy", saved(a, "WEBP", quality=80), None
    yield "lossy RGBA", saved(rgba, "WEBP", quality=80), None
    yield "gray", saved(a, "WEBP", "L", lossless=True), None
    yield "lossy 1x1", saved(scene(1, 1), "WEBP"), None
    yield "lossless 1x3", saved(scene(1, 3), "WEBP", lossless=True), None
    yield "animated", saved(a, "WEBP", save_all=True, lossless=True,
                            append_images=[Image.fromarray(a[::-1])]), None


# --- TIFF ---

def tiff(shape, tags, chunks, order="<", big=False):
    """A TIFF by hand; chunks are strips, or tiles with the tags 322, 323."""
    h, w = shape
    tags = {256: (4, [w]), 257: (4, [h]), **tags}
    data = b""
    at, sizes = [], []
    for c in chunks:
        at.append((16 if big else 8) + len(data))
        sizes.append(len(c))
        data += c + bytes(len(c) % 2)
    tiled = 322 in tags
    tags[324 if tiled else 273] = (4, at)
    tags[325 if tiled else 279] = (4, sizes)
    if not tiled:
        tags.setdefault(278, (4, [h]))
    here = (16 if big else 8) + len(data)
    count, size, inline = ("Q", 20, 8) if big else ("H", 12, 4)
    word = "Q" if big else "I"
    behind = here + struct.calcsize(order + count) + size * len(tags) + inline
    ifd, extra = struct.pack(order + count, len(tags)), b""
    for tag, (kind, values) in sorted(tags.items()):
        v = struct.pack(order + {3: "H", 4: "I"}[kind] * len(values), *values)
        if len(v) > inline:
            place = struct.pack(order + word, behind + len(extra))
            extra += v + bytes(len(v) % 2)
        else:
            place = v.ljust(inline, b"\0")
        ifd += struct.pack(order + "HH" + word, tag, kind, len(values)) + place
    head = b"II" if order == "<" else b"MM"
    if big:
        head += struct.pack(order + "HHHQ", 43, 8, 0, here)
    else:
        head += struct.pack(order + "HI", 42, here)
    return head + data + ifd + bytes(inline) + extra


def tags(bits, photo, samples=1, planar=1, **more):
    t = {258: (3, [bits] * samples), 259: (3, [1]), 262: (3, [photo]),
         277: (3, [samples]), 284: (3, [planar])}
    t.update({int(k[1:]): v for k, v in more.items()})
    return t


def bit_rows(index, bits):
    b = [np.packbits(np.unpackbits(r[:, None], axis=1)[:, 8 - bits:]).tobytes()
         for r in index]
    return b"".join(b)


def tiles(a, tw, th):
    h, w = a.shape[:2]
    pad = [(0, -h % th), (0, -w % tw)] + [(0, 0)] * (a.ndim - 2)
    a = np.pad(a, pad)
    return [a[y:y + th, x:x + tw].tobytes() for y in range(0, h, th)
            for x in range(0, w, tw)]


def tiffs():
    a = scene(71, 45)
    h, w = a.shape[:2]
    s = (h, w)
    gray = a[:, :, 1].copy()
    im = Image.fromarray(a)
    rgba = im.copy()
    rgba.putalpha(Image.fromarray(gray))
    for c in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
        yield f"RGB {c}", saved(im, "TIFF", compression=c), None
        yield f"gray {c}", saved(im, "TIFF", "L", compression=c), None
        yield f"palette {c}", saved(im.quantize(99), "TIFF",
                                    compression=c), None
        yield f"RGBA {c}", saved(rgba, "TIFF", compression=c), None
        yield f"CMYK {c}", saved(im, "TIFF", "CMYK", compression=c), None
        yield f"1 bit {c}", saved(im, "TIFF", "1", compression=c), None
    for c in ("group3", "group4", "tiff_ccitt"):
        yield f"1 bit {c}", saved(im, "TIFF", "1", compression=c), None
    yield "gray+alpha", saved(rgba, "TIFF", "LA"), None
    yield "jpeg", saved(im, "TIFF", compression="jpeg", quality=90), None
    yield "jpeg gray", saved(im, "TIFF", "L", compression="jpeg"), None
    yield "zstd", saved(im, "TIFF", compression="zstd"), None
    yield "webp", saved(im, "TIFF", compression="webp"), None
    wide = (gray.astype(np.uint16) << 8) | 77
    want = np.repeat(gray[..., None], 3, 2)
    for order in "<>":
        raw = wide.astype(order + "u2").tobytes()
        yield f"gray 16 bit {order}", tiff(s, tags(16, 1), [raw], order), want
        yield (f"white is 0, 16 bit {order}",
               tiff(s, tags(16, 0), [raw], order), 255 - want)
        rgb = ((a.astype(np.uint16) << 8) | 99).astype(order + "u2").tobytes()
        yield f"RGB 16 bit {order}", tiff(s, tags(16, 2, 3), [rgb], order), a
        yield (f"RGB 16 bit as PIL {order}",
               tiff(s, tags(16, 2, 3), [rgb], order), None)
        yield (f"BigTIFF {order}",
               tiff(s, tags(8, 2, 3), [a.tobytes()], order, True), a)
    for bits in (1, 2, 4):
        index = gray >> (8 - bits)
        for photo in (0, 1):
            yield (f"{bits} bit, kind {photo}",
                   tiff(s, tags(bits, photo), [bit_rows(index, bits)]), None)
        n = 1 << bits
        colours = rng.integers(0, 65536, 3 * n).tolist()
        yield (f"palette {bits} bit",
               tiff(s, tags(bits, 3, t320=(3, colours)),
                    [bit_rows(index, bits)]), None)
    yield ("white is 0", tiff(s, tags(8, 0), [gray.tobytes()]), None)
    yield ("strips of 7", tiff(s, tags(8, 2, 3, t278=(4, [7])), [
        a[y:y + 7].tobytes() for y in range(0, h, 7)]), a)
    yield ("strips of 7, planar", tiff(s, tags(8, 2, 3, 2, t278=(4, [7])), [
        a[y:y + 7, :, c].tobytes() for c in range(3)
        for y in range(0, h, 7)]), a)
    for tw, th in ((16, 32), (80, 64)):
        size = {"t322": (4, [tw]), "t323": (4, [th])}
        yield (f"tiles {tw}x{th}",
               tiff(s, tags(8, 2, 3, **size), tiles(a, tw, th)), a)
        yield (f"tiles {tw}x{th}, planar", tiff(
            s, tags(8, 2, 3, 2, **size),
            sum((tiles(a[:, :, c], tw, th) for c in range(3)), [])), a)
    four = np.dstack([a, gray])
    yield ("RGBX", tiff(s, tags(8, 2, 4, t338=(3, [0])), [four.tobytes()]), None)
    yield ("alpha of its own",
           tiff(s, tags(8, 2, 4, t338=(3, [2])), [four.tobytes()]), None)
    yield ("alpha multiplied",
           tiff(s, tags(8, 2, 4, t338=(3, [1])), [four.tobytes()]), None)
    yield ("five samples", tiff(s, tags(8, 2, 5, t338=(3, [0, 0])),
                                [np.dstack([four, gray]).tobytes()]), None)
    full = np.full((4, 6, 3), (100, 90, 200), np.uint8)
    yield ("YCbCr", tiff((4, 6), tags(8, 6, 3, t530=(3, [1, 1])),
                         [full.tobytes()]), np.full((4, 6, 3), (201, 62, 33)),
           1, 2)
    yield "1x1", saved(scene(1, 1), "TIFF"), None


def compare_kind(path, kind, made):
    for name, data, want, *rest in made():
        if not check(path, f"{kind} {name}", data, want, *rest):
            print(f"{kind} is not in this build")
            return


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "picture")
        compare_kind(path, "BMP", bmps)
        compare_kind(path, "PNM", pnms)
        compare_kind(path, "GIF", gifs)
        compare_kind(path, "WebP", webps)
        compare_kind(path, "TIFF", tiffs)
    print(f"{checks} comparisons, {failures} failed")
    return 1 if failures else 0


sys.exit(main())
