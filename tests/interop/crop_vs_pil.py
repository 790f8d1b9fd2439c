#!/usr/bin/python3
# crop_vs_pil.py - regions that weir decodes alone, against PIL's whole decode.
# SPDX-License-Identifier: Apache-2.0
"""usage: crop_vs_pil.py PICTURE_DUMP [--report]

For each kind of picture: random regions as random-resized-crop draws them,
center crops, regions at every border; each decoded, resized and mirrored by
picture-dump, and cropped out of the whole picture, resized and mirrored by
PIL. Bars for `exact`, in levels of 255: mean absolute error <= 0.5, largest
<= 3. The largest of `fast` is at the hard edge of a saturated shape in 4:2:2,
whose colour planes libjpeg shrinks by 2 more than is wanted; a whole picture
has it too. Exit code 77: skipped."""

import io
import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image
except ImportError as e:
    print(f"skipped: {e} (python3-pil and python3-numpy are needed)")
    sys.exit(77)

EXACT = 0.5, 3.0
FAST = 2.0, 50.0

DUMP = sys.argv[1]
REPORT = "--report" in sys.argv
failures = 0
checks = 0


def scene(w, h):
    """Soft shapes, hard edges, saturated colours and a little noise."""
    r = np.random.default_rng(3)
    y, x = np.mgrid[0:h, 0:w].astype(float)
    x, y = x / max(w - 1, 1), y / max(h - 1, 1)
    a = np.stack([128 + 90 * np.sin(7 * x + 3 * y), 128 + 90 * np.cos(5 * y),
                  128 + 90 * np.sin(4 * x * y + 1)], 2)
    a[(x - 0.3) ** 2 + (y - 0.4) ** 2 < 0.04] = (230, 40, 30)
    a[(abs(x - 0.7) < 0.1) & (abs(y - 0.6) < 0.2)] = (20, 60, 220)
    a += r.normal(0, 6, (h, w, 1)) + r.normal(0, 2, (h, w, 3))
    return Image.fromarray(a.clip(0, 255).astype(np.uint8))


def encoded(image, kind, **kw):
    b = io.BytesIO()
    image.save(b, kind, **kw)
    return b.getvalue()


def pictures():
    s = scene(500, 375)
    for name, subsampling in (("4:2:0", 2), ("4:2:2", 1), ("4:4:4", 0)):
        yield f"JPEG {name}", encoded(s, "JPEG", quality=90,
                                      subsampling=subsampling)
    yield "JPEG progressive", encoded(s, "JPEG", quality=90, progressive=True)
    yield "JPEG gray", encoded(s.convert("L"), "JPEG", quality=90)
    yield "JPEG CMYK", encoded(s.convert("CMYK"), "JPEG", quality=90)
    yield "JPEG odd", encoded(scene(333, 217), "JPEG", quality=90)
    yield "PNG", encoded(scene(320, 200), "PNG")


def random_crop(r, w, h):
    """torchvision's RandomResizedCrop.get_params, scale 0.08 to 1."""
    for _ in range(10):
        area = w * h * r.uniform(0.08, 1)
        ratio = np.exp(r.uniform(np.log(3 / 4), np.log(4 / 3)))
        cw, ch = round(np.sqrt(area * ratio)), round(np.sqrt(area / ratio))
        if 0 < cw <= w and 0 < ch <= h:
            return r.randint(0, w - cw), r.randint(0, h - ch), cw, ch
    return 0, 0, w, h


def regions(w, h):
    r = random.Random(5)
    yield from (random_crop(r, w, h) for _ in range(8))
    side = round(min(w, h) * 0.875)
    yield (w - side) // 2, (h - side) // 2, side, side
    yield 0, 0, w // 2, h // 2
    yield w // 2, h // 2, w - w // 2, h - h // 2
    yield w - 1, h - 1, 1, 1
    yield 0, 0, w, h


def dump(path, size, crop, flip, decode):
    args = [DUMP, path, *size, 3, "f32", "nhwc", "bilinear", decode, *crop]
    args += ["flip"] if flip else []
    r = subprocess.run([str(a) for a in args], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    if r.returncode:
        raise RuntimeError(r.stderr.decode().strip())
    a = np.frombuffer(r.stdout, np.float32).astype(np.float64) * 255
    return a.reshape(size[1], size[0], 3)


def reference(image, size, crop, flip):
    x, y, w, h = crop
    part = image.crop((x, y, x + w, y + h)).resize(size, Image.BILINEAR)
    if flip:
        part = part.transpose(Image.FLIP_LEFT_RIGHT)
    return np.asarray(part, np.float64)


def check(name, got, want, bars):
    global failures, checks
    d = np.abs(got - want)
    ok = d.mean() <= bars[0] and d.max() <= bars[1]
    checks += 1
    failures += not ok
    if REPORT or not ok:
        print(f"{'ok  ' if ok else 'FAIL'} {name:52s} "
              f"mean {d.mean():6.3f}  max {d.max():6.2f}")


def is_missing(path):
    """Whether this build has no codec for the file."""
    r = subprocess.run([DUMP, path, "0", "0", "3", "u8", "nhwc", "bilinear",
                        "exact"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)
    return b"was built without" in r.stderr


def compare(path, name, data):
    image = Image.open(io.BytesIO(data)).convert("RGB")
    for k, crop in enumerate(regions(*image.size)):
        flip = k % 2 == 1
        for size in ((224, 224), (96, 64)):
            want = reference(image, size, crop, flip)
            where = f"{name} {crop} -> {size}{' flip' if flip else ''}"
            check(where, dump(path, size, crop, flip, "exact"), want, EXACT)
            check(f"fast {where}", dump(path, size, crop, flip, "fast"), want,
                  FAST)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "picture")
        for name, data in pictures():
            with open(path, "wb") as f:
                f.write(data)
            if is_missing(path):
                print(f"{name} is not in this build")
            else:
                compare(path, name, data)
    print(f"{checks} comparisons, {failures} failed")
    return 1 if failures else 0


sys.exit(main())
