#!/usr/bin/python3
# tar.py - archives of Python's tarfile, gzip and tar read by weir, and back.
# SPDX-License-Identifier: Apache-2.0
"""usage: tar.py TAR_DUMP WEIR

Makes archives in every format that tarfile writes, and by tar where it is
installed; compares the keys, labels, offsets and lengths that weir finds with
what tarfile finds; lets weir decode them all; then reads an archive that weir
wrote with tarfile and tar. Exit code 1: something differs."""

import base64
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

DUMP, WEIR = sys.argv[1], sys.argv[2]

# 8x8, grey
PICTURE = base64.b64decode("""
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9
PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/wAALCAAIAAgBAREA/8QAFAAB
AAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z
""")

FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT,
           "pax": tarfile.PAX_FORMAT}
failures = checks = 0


def check(what, got, want):
    global failures, checks
    checks += 1
    if got != want:
        failures += 1
        print(f"FAILED {what}:\n  got  {got!r}\n  want {want!r}")


def member(name, data=b"", kind=tarfile.REGTYPE, target="a.jpg"):
    info = tarfile.TarInfo(name)
    info.type = kind
    info.mtime = 1234567890.5
    info.uname = "someone"
    if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
        info.linkname = target
    info.size = len(data)
    return info, data


def keys(fmt):
    """Keys of every kind; ustar has room for 100 bytes and 155 in front."""
    yield "a"
    yield "n01440764/n01440764_10026"
    yield "d" * 90 + "/" + "b" * 80                  # 175 bytes
    yield "gr\u00fc\u00df/\u732b"
    yield "with blank/and 'quotes'"
    if fmt != "ustar":
        yield "x" * 120                              # one part over 100
        yield "e" * 150 + "/" + "f" * 140            # over 256
        yield "/".join("g" * 99 for _ in range(20))  # 2,000 bytes
        yield "\u732b" * 80


def samples(fmt):
    """(key, label, members in the order they are written in)"""
    for n, key in enumerate(keys(fmt)):
        picture = member(key + (".jpg", ".jpeg", ".JPG")[n % 3], PICTURE)
        label = member(key + ".cls", str(n).encode())
        doc = json.dumps({"label": n, "class_name": key}).encode()
        if n % 3 == 0:
            yield key, n, [picture, label]
        elif n % 3 == 1:
            yield key, n, [label, member(key + ".txt", b"caption"), picture]
        else:
            yield key, n, [picture, member(key + ".json", doc)]


def make(path, fmt, mode="w"):
    """Writes the samples with other members between; returns (key, label)."""
    found = []
    target = "t" * (90 if fmt == "ustar" else 150)
    with tarfile.open(path, mode, format=FORMATS[fmt]) as t:
        def add(m):
            t.addfile(m[0], io.BytesIO(m[1]))
        add(member("some/folder", kind=tarfile.DIRTYPE))
        for n, (key, label, members) in enumerate(samples(fmt)):
            for m in members:
                add(m)
                if n % 2:
                    add(member("s.jpg", b"", tarfile.SYMTYPE, target))
            add(member("hard.jpg", kind=tarfile.LNKTYPE))
            add(member("pipe", kind=tarfile.FIFOTYPE))
            found.append((key, label))
        last = member("z.png", b"")
        add(last)
        found.append(("z", -1))
    return found


def dump(path):
    """What weir finds: samples as lists, problems as lines."""
    r = subprocess.run([DUMP, "read", path], stdout=subprocess.PIPE)
    if r.returncode:
        return [], [f"exit {r.returncode}"]
    lines = r.stdout.decode("utf-8", "surrogateescape").split("\n")[:-1]
    return ([x.split("\t") for x in lines if x[0] != "!"],
            [x for x in lines if x[0] == "!"])


def check_archive(what, path, want):
    """Keys and labels as they were meant, places as tarfile has them."""
    got, problems = dump(path)
    check(f"{what}: problems", problems, [])
    check(f"{what}: keys and labels",
          [(x[4], int(x[3])) for x in got], want)
    with tarfile.open(path) as t:
        places = [(m.offset_data, m.size) for m in t if m.isreg() and
                  m.name.lower().endswith((".jpg", ".jpeg", ".png"))]
    check(f"{what}: places", [(int(x[1]), int(x[2])) for x in got], places)


def check_inspect(what, path, want, broken):
    """The command decodes all of it: `broken` samples are no pictures."""
    r = subprocess.run([WEIR, "inspect", "--no-index-cache", "--quiet",
                        "--verify", "--json", path], stdout=subprocess.PIPE)
    if r.returncode not in (0, 3):
        check(f"{what}: inspect", r.returncode, 0)
        return
    doc = json.loads(r.stdout)
    labels = [c["label"] for c in doc["classes"]["list"] if c["samples"]]
    check(f"{what}: inspect",
          (doc["format"], doc["samples"], doc["issues"]["count"], labels,
           doc["broken"]["count"]),
          ("tar", len(want), 0, [x for _, x in want if x >= 0], broken))


def read_tarfile(folder):
    for fmt in FORMATS:
        path = os.path.join(folder, f"{fmt}.tar")
        want = make(path, fmt)
        check_archive(fmt, path, want)
        check_inspect(fmt, path, want, 1)  # z.png is empty
        for ending, mode in ((".tar.gz", "w:gz"), (".tgz", "w:gz")):
            path = os.path.join(folder, fmt + ending)
            make(path, fmt, mode)
            check_archive(fmt + ending, path, want)
            check_inspect(fmt + ending, path, want, 1)


def read_members_of_gzip(folder):
    """Several gzip members behind each other are one archive."""
    plain = os.path.join(folder, "plain.tar")
    path = os.path.join(folder, "members.tar.gz")
    want = make(plain, "gnu")
    with open(plain, "rb") as f, open(path, "wb") as out:
        while piece := f.read(7000):
            out.write(gzip.compress(piece))
    check_archive("gzip members", path, want)
    check_inspect("gzip members", path, want, 1)


def read_damaged_gzip(folder):
    """What was there before the damage is kept; the rest is one problem."""
    path = os.path.join(folder, "damaged.tar.gz")
    want = make(path, "gnu", "w:gz")
    with open(path, "rb") as f:
        whole = f.read()
    flipped = bytearray(whole)
    flipped[-5] ^= 1  # the checksum at its end
    for what, data in (("cut", whole[:len(whole) // 2]),
                       ("cut at the end", whole[:-3]), ("flipped", flipped)):
        with open(path, "wb") as f:
            f.write(data)
        got, problems = dump(path)
        keys_got = [(x[4], int(x[3])) for x in got]
        least = 1 if what == "cut" else len(want)
        check(f"gzip {what}: keys", keys_got, want[:len(keys_got)])
        check(f"gzip {what}: enough", len(keys_got) >= least, True)
        check(f"gzip {what}: problems",
              [p.startswith("!damaged.tar.gz\tgzip: ") for p in problems],
              [True])


def read_tar(folder):
    if not shutil.which("tar"):
        print("tar is not installed: not compared")
        return
    tree = os.path.join(folder, "tree")
    names = ["ant/1.jpg", "bee/" + "n" * 140 + ".jpg", "bee/\u732b.jpg",
             "c" * 120 + "/" + "d" * 120 + ".jpg"]
    for name in names:
        os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
        with open(os.path.join(tree, name), "wb") as f:
            f.write(PICTURE)
    os.symlink("1.jpg", os.path.join(tree, "ant", "link.jpg"))
    os.link(os.path.join(tree, "ant", "1.jpg"),
            os.path.join(tree, "ant", "hard.jpg"))
    for fmt in ("v7", "ustar", "gnu", "pax", "oldgnu"):
        use = [n for n in names
               if len(n) < 100 or fmt not in ("v7", "ustar")]
        path = os.path.join(folder, f"tar-{fmt}.tar")
        subprocess.run(["tar", "-C", tree, "-cf", path, "--format", fmt,
                        "./ant/link.jpg", "./ant/hard.jpg"] +
                       ["./" + n for n in use], check=True)
        known = sorted({n.split("/")[0] for n in use})
        # the link's name comes first, then that of the other is the link
        want = [("ant/hard", known.index("ant"))]
        want += [(n[:-4], known.index(n.split("/")[0])) for n in use[1:]]
        got, problems = dump(path)
        check(f"tar {fmt}", [(x[4], int(x[3])) for x in got], want)
        check(f"tar {fmt}: problems", problems, [])


def read_sparse(folder):
    """Not read, but named, and what follows is found."""
    if not shutil.which("tar"):
        return
    with open(os.path.join(folder, "hole.jpg"), "wb") as f:
        for k in range(30):
            f.seek(k << 20)
            f.write(b"x" * 4096)
    with open(os.path.join(folder, "w.jpg"), "wb") as f:
        f.write(PICTURE)
    for options in (["--format=gnu"], ["--format=pax"],
                    ["--format=pax", "--sparse-version=0.0"],
                    ["--format=pax", "--sparse-version=0.1"]):
        path = os.path.join(folder, "sparse.tar")
        subprocess.run(["tar", "-C", folder, "-cSf", path] + options +
                       ["hole.jpg", "w.jpg"], check=True)
        got, problems = dump(path)
        check(f"sparse {options}: keys", [x[4] for x in got], ["w"])
        check(f"sparse {options}: problems",
              [p.endswith("is sparse") for p in problems], [True])


def write(folder):
    """What weir writes is read by others, and is the same each time."""
    picture = os.path.join(folder, "picture")
    with open(picture, "wb") as f:
        f.write(PICTURE)
    wanted = [(k, n if n % 4 else -1) for n, k in enumerate(keys("pax"))]
    text = "".join(f"{label} {key}\n" for key, label in wanted)
    runs = [subprocess.run([DUMP, "write", picture], input=text.encode(),
                           stdout=subprocess.PIPE, check=True).stdout
            for _ in range(2)]
    check("written twice", runs[0] == runs[1], True)
    check("whole records", len(runs[0]) % 10240, 0)
    path = os.path.join(folder, "written.tar")
    with open(path, "wb") as f:
        f.write(runs[0])
    want = []
    for key, label in wanted:
        want.append((key + ".jpg", PICTURE))
        if label >= 0:
            want.append((key + ".cls", str(label).encode()))
    with tarfile.open(path) as t:
        got = [(m.name, t.extractfile(m).read()) for m in t]
        check("written: times and owners",
              {(m.mtime, m.uid, m.gid, m.mode) for m in t},
              {(0, 0, 0, 0o644)})
    check("written: read by tarfile", got, want)
    check_archive("written", path, wanted)
    check_inspect("written", path, wanted, 0)
    if shutil.which("tar"):
        r = subprocess.run(["tar", "-tf", path, "--quoting-style=literal"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check("written: read by tar",
              (r.returncode, r.stderr, r.stdout.decode().split("\n")[:-1]),
              (0, b"", [name for name, _ in want]))


def main():
    with tempfile.TemporaryDirectory() as folder:
        read_tarfile(folder)
        read_members_of_gzip(folder)
        read_damaged_gzip(folder)
        read_tar(folder)
        read_sparse(folder)
        write(folder)
    print(f"{checks} comparisons, {failures} failed")
    return 1 if failures else 0


sys.exit(main())
