#!/usr/bin/python3
# orient_vs_pil.py - EXIF's orientation against PIL's exif_transpose.
# SPDX-License-Identifier: Apache-2.0
"""usage: orient_vs_pil.py PICTURE_DUMP

Pictures of each kind that can say which way up they are, in all eight ways:
decoded upright, whole, cropped, resized and mirrored. Exit code 77: skipped."""

import io
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image, ImageOps
except ImportError as e:
    print(f"skipped: {e} (python3-pil and python3-numpy are needed)")
    sys.exit(77)

DUMP = sys.argv[1]
KINDS = {"JPEG": {"quality": 95}, "PNG": {}, "WEBP": {"lossless": True},
         "TIFF": {}}
failures = 0
checks = 0


def scene(w, h):
    y, x = np.mgrid[0:h, 0:w].astype(float)
    a = np.stack([255 * x / (w - 1), 255 * y / (h - 1),
                  128 + 90 * np.sin(x / 7 + y / 11)], 2)
    a[:h // 3, :w // 4] = (250, 20, 30)
    return Image.fromarray(a.clip(0, 255).astype(np.uint8))


def made(kind, orientation):
    exif = Image.Exif()
    exif[0x112] = orientation
    b = io.BytesIO()
    if kind == "TIFF":
        scene(90, 56).save(b, kind, tiffinfo={0x112: orientation})
    else:
        scene(90, 56).save(b, kind, exif=exif, **KINDS[kind])
    return b.getvalue()


def upright(data):
    im = Image.open(io.BytesIO(data))
    if im.format == "TIFF":  # PIL turns these by itself
        return im.convert("RGB")
    return ImageOps.exif_transpose(im).convert("RGB")


def dump(path, w, h, *crop):
    args = [DUMP, path, w, h, 3, "u8", "nhwc", "bilinear", "exact", *crop]
    r = subprocess.run([str(a) for a in args], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE,
                       env={**os.environ, "PICTURE_DUMP_ORIENT": "exif"})
    if b"was built without" in r.stderr:
        return None
    if r.returncode:
        print(r.stderr.decode())
        return np.full((h or 1, w or 1, 3), -999)
    return np.frombuffer(r.stdout, np.uint8).astype(int)


def check(name, got, want, mean, largest):
    global failures, checks
    if got is None:
        return
    checks += 1
    want = np.asarray(want).astype(int)
    ok = got.size == want.size
    if ok:
        d = np.abs(got.reshape(want.shape) - want)
        ok = d.mean() <= mean and d.max() <= largest
    if not ok:
        failures += 1
        print(f"FAIL {name}")


def compare(path, kind, orientation):
    data = made(kind, orientation)
    with open(path, "wb") as f:
        f.write(data)
    want = upright(data)
    name = f"{kind} {orientation}"
    check(name, dump(path, 0, 0), want, 0, 0)
    for size in ((50, 40), (31, 77)):
        check(f"{name} to {size}", dump(path, *size),
              want.resize(size, Image.BILINEAR), 0.5, 3)
    x, y, w, h = 7, 9, 40, 33
    part = want.crop((x, y, x + w, y + h))
    check(f"{name} crop", dump(path, w, h, x, y, w, h), part, 0, 0)
    small = part.resize((20, 30), Image.BILINEAR)
    check(f"{name} crop resized", dump(path, 20, 30, x, y, w, h), small, 0.5, 3)
    check(f"{name} mirrored", dump(path, 20, 30, x, y, w, h, "flip"),
          ImageOps.mirror(small), 0.5, 3)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "picture")
        for kind in KINDS:
            for orientation in range(1, 9):
                compare(path, kind, orientation)
    print(f"{checks} comparisons, {failures} failed")
    return 1 if failures else 0


sys.exit(main())
