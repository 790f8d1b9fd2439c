#!/usr/bin/env python3
# index.py - index files in folders that another user can write to.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import glob
import os
import shutil
import struct
import tarfile

from kit import STRANGER, WEIR, digest, main, must, plant, run_as, skip, weir

os.environ.pop("WEIR_INDEX_DIR", None)  # indexes are kept where users have them
CHECKED_FROM = 16  # bytes of an index that its checksum leaves out


def pictures(p):
    """A data set of a folder whose name is as long as the way to another one,
    and that other one, with a picture of the same size that nobody named."""
    (source, *_) = glob.glob(p.data + "/*/*.jpg")
    with open(source, "rb") as file:
        picture = file.read()
    for folder, mark in (("set/aa_secret", b"common"), ("secret", b"SECRET")):
        os.makedirs(f"{p.home}/{folder}")
        with open(f"{p.home}/{folder}/1.jpg", "wb") as file:
            file.write(picture + mark)
    os.chmod(p.home + "/secret", 0o700)
    for root, _, _ in os.walk(p.home):
        os.chown(root, p.victim, p.victim)
        os.utime(root, (1e9, 1e9))  # long ago, or the index is not kept
    return p.home + "/set"


def forged(p, data):
    """An index of the data that names ../secret, and its hash."""
    try:
        hasher = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    except OSError:
        skip("needs libxxhash.so.0, to forge a checksum")
    hasher.restype = ctypes.c_uint64
    hasher.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    must(weir(STRANGER, "inspect", data, "-q", "--index-dir",
              p.lair + "/idx"))
    (path,) = glob.glob(p.lair + "/idx/*.widx")
    with open(path, "rb") as file:
        index = file.read()
    # The folder of the pictures alone: what was stamped stays true.
    index = index.replace(b"aa_secret", b"../secret", 1)
    rest = index[CHECKED_FROM:]
    index = index[:8] + struct.pack("<Q", hasher(rest, len(rest))) + rest
    with open(f"{p.lair}/forged", "wb") as file:
        file.write(index)
    return os.path.basename(path)[:16]


def plant_index(p, hashed, folder):
    """The forged index, by all names that the victim's may have."""
    for name in (hashed, f"{hashed}-{p.victim}"):
        plant(STRANGER, 'mkdir -p "${2%/*}"; cat "$1" > "$2"; chmod a+rw "$2"',
              f"{p.lair}/forged", f"{folder}/{name}.widx")


def is_safe(p, data, *options, **more):
    """Converting copies what is in the data set; inspecting says why."""
    out = p.folder("out", p.victim, 0o700)
    must(weir(p.victim, "convert", data, out + "/to", "-q", "--to", "tar",
              *options, **more))
    copied = b""
    for path in glob.glob(out + "/to/**", recursive=True):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                copied += file.read()
    assert b"SECRET" not in copied, "a file outside of the data set was copied"
    assert b"common" in copied
    said = must(weir(p.victim, "inspect", data, *options, **more))
    assert "belongs to user 65533" in said, said


def index_planted(p):
    """A folder that everybody can write to, by the option."""
    data = pictures(p)
    plant_index(p, forged(p, data), p.shared + "/idx")
    is_safe(p, data, "--index-dir", p.shared + "/idx")


def index_environment(p):
    """The same by the environment."""
    data = pictures(p)
    plant_index(p, forged(p, data), p.shared)
    is_safe(p, data, env={"WEIR_INDEX_DIR": p.shared})


def index_home(p):
    """A home of another user, as sudo may keep it."""
    data = pictures(p)
    plant_index(p, forged(p, data), p.lair + "/.cache/weir/index")
    is_safe(p, data, env={"HOME": p.lair})


def slowly(p, data, home):
    """Inspects a data set where each read takes long: its index is worth keeping.
    Returns whether it is kept in that home."""
    slow = "inject=pread64:delay_enter=150000"  # microseconds
    must(run_as(p.victim, "strace", "-f", "-qq", "-o", "/dev/null", "-e",
                "trace=pread64", "-e", slow, WEIR, "inspect", data,
                env={"HOME": home}))
    return bool(glob.glob(home + "/.cache/weir/index/*.widx"))


def index_home_link(p):
    """A home of another user, whose cache folder leads into one's own."""
    if not shutil.which("strace"):
        skip("no strace")
    data = p.home + "/slow.tar"
    with tarfile.open(data, "w") as tar:
        tar.add(glob.glob(p.data + "/*/*.jpg")[0], "1.jpg")
    os.utime(data, (1e9, 1e9))
    mine = p.folder("mine", p.victim, 0o755)
    plant(STRANGER, 'ln -s "$1" "$2"', mine, p.lair + "/.cache")
    before = digest(p.home, mine)
    slowly(p, data, p.lair)
    assert digest(p.home, mine) == before, "folders were made through a link"
    home = p.folder("own", p.victim, 0o755)
    assert slowly(p, data, home), "not kept in one's own"


def index_link(p):
    """A link of another user where the folder or the file would be."""
    data = pictures(p)
    mine = p.folder("mine", p.victim, 0o755)
    hashed = forged(p, data)
    for name in (hashed, f"{hashed}-{p.victim}"):
        plant(STRANGER, 'ln -s "$1" "$2"', p.precious,
              f"{p.shared}/{name}.widx")
    plant(STRANGER, 'ln -s "$1" "$2"', mine, p.shared + "/idx")
    before = digest(p.home, mine)
    must(weir(p.victim, "inspect", data, "--index-dir", p.shared))
    must(weir(p.victim, "inspect", data, "--index-dir", p.shared + "/idx"))
    assert digest(p.home, mine) == before, "a link was followed"


def index_private(p):
    """Names of files in an index are for their user alone, and each user's
    index is kept."""
    data = pictures(p)
    for uid in (p.victim, STRANGER, p.victim):
        must(weir(uid, "inspect", data, "--index-dir", p.shared))
    kept = glob.glob(p.shared + "/*.widx")
    assert len(kept) == 2, kept
    assert {os.stat(name).st_uid for name in kept} == {p.victim, STRANGER}
    for name in kept:
        assert os.stat(name).st_mode & 0o777 == 0o600, name
    said = must(weir(p.victim, "inspect", data, "--index-dir", p.shared))
    assert p.shared in said and "belongs to" not in said, said


main(globals())
