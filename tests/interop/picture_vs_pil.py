#!/usr/bin/python3
# picture_vs_pil.py - weir's decode and resize against PIL's (and torchvision's).
# SPDX-License-Identifier: Apache-2.0
"""usage: picture_vs_pil.py PICTURE_DUMP [--report]

Makes pictures of every kind with PIL, lets picture-dump decode and resize them
and compares with what PIL makes of the same files. Bars for `exact`, in
levels of 255: mean absolute error <= 0.5, largest <= 3. `fast` has bars of its
own (docs/decode.md). --report prints all numbers. Exit code 77: skipped."""

import io
import os
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy as np
    from PIL import Image
except ImportError as e:
    print(f"skipped: {e} (python3-pil and python3-numpy are needed)")
    sys.exit(77)

EXACT_MEAN, EXACT_MAX = 0.5, 3.0
FAST_MEAN, FAST_MAX = 2.0, 40.0

DUMP = sys.argv[1]
REPORT = "--report" in sys.argv
failures = 0
checks = 0


def scene(w, h, seed=1):
    """Soft shapes, hard edges, saturated colours and a little noise."""
    r = np.random.default_rng(seed)
    y, x = np.mgrid[0:h, 0:w].astype(float)
    x, y = x / max(w - 1, 1), y / max(h - 1, 1)
    a = np.stack([128 + 90 * np.sin(7 * x + 3 * y), 128 + 90 * np.cos(5 * y),
                  128 + 90 * np.sin(4 * x * y + 1)], 2)
    a[(x - 0.3) ** 2 + (y - 0.4) ** 2 < 0.04] = (230, 40, 30)
    a[(abs(x - 0.7) < 0.1) & (abs(y - 0.6) < 0.2)] = (20, 60, 220)
    a += r.normal(0, 6, (h, w, 1)) + r.normal(0, 2, (h, w, 3))
    return Image.fromarray(a.clip(0, 255).astype(np.uint8))


def jpeg(image, **kw):
    b = io.BytesIO()
    kw.setdefault("quality", 90)
    image.save(b, "JPEG", **kw)
    return b.getvalue()


def png(image, **kw):
    b = io.BytesIO()
    image.save(b, "PNG", **kw)
    return b.getvalue()


def png_by_hand(a, interlaced=False):
    """RGB samples of 8 or 16 bits as PIL does not write them: unfiltered, in
    Adam7's seven passes if wanted."""
    passes = [(0, 0, 1, 1)]
    if interlaced:
        passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4),
                  (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    rows = b""
    for x, y, step_x, step_y in passes:
        part = a[y::step_y, x::step_x]
        if part.size:
            rows += b"".join(b"\0" + r.astype(r.dtype.newbyteorder(">"))
                             .tobytes() for r in part)

    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    h, w = a.shape[:2]
    head = struct.pack(">IIBBBBB", w, h, a.itemsize * 8, 2, 0, 0, interlaced)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def dump(path, w, h, channels=3, dtype="f32", layout="nhwc", resize="bilinear",
         decode="exact", crop=None):
    args = [DUMP, path, w, h, channels, dtype, layout, resize, decode]
    r = subprocess.run([str(a) for a in args + list(crop or [])],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if r.returncode:
        raise RuntimeError(r.stderr.decode().strip())
    kinds = {"f32": (np.float32, 255.0), "f16": (np.float16, 255.0),
             "u8": (np.uint8, 1.0)}
    t, scale = kinds[dtype]
    a = np.frombuffer(r.stdout, t).astype(np.float64) * scale
    if layout == "nchw":
        return a.reshape(channels, h, w).transpose(1, 2, 0)
    return a.reshape(h, w, channels)


def check(name, got, want, mean=EXACT_MEAN, largest=EXACT_MAX):
    global failures, checks
    d = np.abs(got - want)
    ok = d.mean() <= mean and d.max() <= largest
    checks += 1
    failures += not ok
    if REPORT or not ok:
        print(f"{'ok  ' if ok else 'FAIL'} {name:44s} "
              f"mean {d.mean():6.3f}  max {d.max():6.2f}")


def reference(data, size, mode="RGB", crop=None, how=Image.BILINEAR):
    im = Image.open(io.BytesIO(data)).convert(mode)
    if crop:
        x, y, w, h = crop
        im = im.crop((x, y, x + w, y + h))
    a = np.asarray(im.resize(size, how), np.float64)
    return a if a.ndim == 3 else a[:, :, None]


def noaa(a, size):
    """Two taps, half-pixel centres, in double precision."""
    def axis(a, n):
        s = (np.arange(n) + 0.5) * a.shape[0] / n - 0.5
        lo = np.floor(s).astype(int)
        f = (s - lo).reshape(-1, *[1] * (a.ndim - 1))
        last = a.shape[0] - 1
        return a[lo.clip(0, last)] * (1 - f) + a[(lo + 1).clip(0, last)] * f
    w, h = size
    return axis(axis(a, h).swapaxes(0, 1), w).swapaxes(0, 1)


def area(a, size):
    """Mean of the covered area, in double precision."""
    def axis(a, n):
        m = np.zeros((n, a.shape[0]))
        for o in range(n):
            lo, hi = o * a.shape[0] / n, (o + 1) * a.shape[0] / n
            for i in range(int(lo), min(int(np.ceil(hi)), a.shape[0])):
                m[o, i] = min(hi, i + 1) - max(lo, i)
        m /= m.sum(1, keepdims=True)
        return np.tensordot(m, a, 1)
    w, h = size
    return axis(axis(a, h).swapaxes(0, 1), w).swapaxes(0, 1)


def jpegs():
    yield "4:2:0", jpeg(scene(500, 375), subsampling=2)
    yield "4:2:2", jpeg(scene(500, 375), subsampling=1)
    yield "4:4:4", jpeg(scene(500, 375), subsampling=0)
    yield "progressive", jpeg(scene(400, 300), progressive=True)
    yield "optimized q50", jpeg(scene(333, 500), quality=50, optimize=True)
    yield "q98", jpeg(scene(500, 333), quality=98)
    yield "gray", jpeg(scene(320, 240).convert("L"))
    yield "odd 333x217", jpeg(scene(333, 217), subsampling=2)
    yield "odd 4:2:2 227x131", jpeg(scene(227, 131), subsampling=1)
    yield "CMYK", jpeg(scene(300, 200).convert("CMYK"))
    yield "1x1", jpeg(scene(1, 1))
    yield "2x3", jpeg(scene(2, 3))
    yield "17x1", jpeg(scene(17, 1))
    yield "1x33", jpeg(scene(1, 33))
    yield "large", jpeg(scene(1600, 1200))


def pngs():
    s = scene(320, 200)
    yield "rgb", png(s)
    yield "gray", png(s.convert("L"))
    yield "palette", png(s.quantize(200))
    yield "palette 16", png(s.quantize(16), bits=4)
    yield "palette 4", png(s.quantize(4), bits=2)
    yield "1 bit", png(s.convert("1"))
    rgba = s.copy()
    rgba.putalpha(s.convert("L"))
    yield "rgba", png(rgba)
    yield "gray+alpha", png(rgba.convert("LA"))
    yield "1x1", png(scene(1, 1))
    yield "odd 37x211", png(scene(37, 211))
    rgb = np.asarray(s)
    low = np.random.default_rng(2).integers(0, 256, rgb.shape, np.uint16)
    yield "rgb 16 bit", png_by_hand(rgb.astype(np.uint16) * 256 + low)
    yield "interlaced", png_by_hand(rgb, interlaced=True)
    for w, h in ((1, 1), (3, 5), (37, 211)):
        yield (f"interlaced {w}x{h}",
               png_by_hand(np.asarray(scene(w, h)), interlaced=True))


SIZES = [(224, 224), (64, 48), (299, 299), (600, 451), (1, 1), (7, 300)]


def compare_kinds(path):
    for kind, made in (("JPEG", jpegs), ("PNG", pngs)):
        for name, data in made():
            with open(path, "wb") as f:
                f.write(data)
            w, h = Image.open(io.BytesIO(data)).size
            if is_missing(path):
                print(f"{kind} is not in this build")
                break
            check(f"{kind} {name} decode only",
                  dump_whole(path, w, h), reference(data, (w, h)))
            for size in SIZES:
                check(f"{kind} {name} -> {size[0]}x{size[1]}",
                      dump(path, *size), reference(data, size))


def is_missing(path):
    """Whether this build has no codec for the file."""
    r = subprocess.run([DUMP, path, "0", "0", "3", "u8", "nhwc", "bilinear",
                        "exact"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)
    return b"was built without" in r.stderr


def dump_whole(path, w, h):
    out = subprocess.run([DUMP, path, "0", "0", "3", "u8", "nhwc", "bilinear",
                          "exact"], stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(out, np.uint8).astype(float).reshape(h, w, 3)


def compare_modes(path):
    data = jpeg(scene(500, 375), subsampling=2)
    with open(path, "wb") as f:
        f.write(data)
    full = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), float)
    want = reference(data, (224, 224))
    for dtype in ("f32", "f16", "u8"):
        for layout in ("nhwc", "nchw"):
            check(f"{dtype} {layout}",
                  dump(path, 224, 224, dtype=dtype, layout=layout), want)
    for size in SIZES:
        check(f"noaa -> {size}", dump(path, *size, resize="noaa"),
              noaa(full, size))
        check(f"area -> {size}", dump(path, *size, resize="area"),
              area(full, size))
    check("one channel", dump(path, 224, 224, channels=1),
          reference(data, (224, 224), "L"), 1.0, 6.0)
    for crop in ((0, 0, 100, 100), (33, 47, 301, 211), (250, 150, 250, 225),
                 (499, 374, 1, 1), (0, 100, 500, 20), (17, 0, 16, 375)):
        check(f"crop {crop}", dump(path, 224, 224, crop=crop),
              reference(data, (224, 224), crop=crop))


def compare_fast(path):
    for name, data in jpegs():
        with open(path, "wb") as f:
            f.write(data)
        for size in SIZES[:4]:
            check(f"fast JPEG {name} -> {size[0]}x{size[1]}",
                  dump(path, *size, decode="fast"), reference(data, size),
                  FAST_MEAN, FAST_MAX)
    for crop in ((33, 47, 901, 811), (800, 600, 800, 600)):
        check(f"fast crop {crop}",
              dump(path, 224, 224, decode="fast", crop=crop),
              reference(data, (224, 224), crop=crop), FAST_MEAN, FAST_MAX)


def compare_torchvision(path):
    try:
        import torch
        from torchvision.transforms.functional import resize
        from torchvision.transforms import InterpolationMode
    except Exception as e:  # not installed, or installed and broken
        print(f"torchvision not compared: {e}")
        return
    data = jpeg(scene(500, 375), subsampling=2)
    with open(path, "wb") as f:
        f.write(data)
    full = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), np.float32)
    t = torch.from_numpy(full.transpose(2, 0, 1).copy())
    for antialias, mode in ((True, "bilinear"), (False, "noaa")):
        want = resize(t, [224, 224], InterpolationMode.BILINEAR,
                      antialias=antialias).numpy().transpose(1, 2, 0)
        check(f"torchvision {mode}", dump(path, 224, 224, resize=mode), want)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "picture")
        compare_kinds(path)
        compare_modes(path)
        compare_fast(path)
        compare_torchvision(path)
    print(f"{checks} comparisons, {failures} failed")
    return 1 if failures else 0


sys.exit(main())
