# kit.py - two users on one machine, one of whom attacks the other.
# SPDX-License-Identifier: Apache-2.0
#
# A case is a function of a Place in one of the files beside this one. It plants
# one attack as user 65533 in a sticky folder that everybody can write to, lets a
# victim run the command there ($WEIR), and looks whether anything of the
# victim's has changed and whether the message says why it was refused. It is run
# twice: the victim is user 65532, and root. Users are mere numbers; no account is
# needed. `FILE.py CASE` runs one.
import ctypes
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile

WEIR = os.environ["WEIR"]
STRANGER = 65533
VICTIMS = (65532, 0)


def skip(why):
    print(why)
    sys.exit(77)


def run_as(uid, *args, env=None, cwd="/"):
    """Runs a command as a user; the result has its output, both streams."""
    prefix = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    return subprocess.run(
        prefix + list(args), cwd=cwd, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", timeout=120,
        env={**os.environ, "HOME": "/nonexistent", **(env or {})})


def weir(uid, *args, **more):
    return run_as(uid, WEIR, *args, **more)


def must(result):
    assert result.returncode == 0, result.stdout
    return result.stdout


def plant(uid, script, *args):
    """What the other user does, as a shell script."""
    must(run_as(uid, "sh", "-euc", script, "sh", *map(str, args)))


def digest(*roots):
    """Everything about some trees but the times of access."""
    sums = hashlib.sha256()
    for root in roots:
        for folder, names, files in sorted(os.walk(root)):
            names.sort()
            for name in sorted(names + files) + ["."]:
                path = os.path.join(folder, name)
                at = os.lstat(path)
                sums.update(f"{path} {at.st_mode} {at.st_uid}".encode())
                if stat.S_ISREG(at.st_mode):
                    with open(path, "rb") as file:
                        sums.update(file.read())
    return sums.hexdigest()


class Place:
    """A shared folder, a data set in it that all can read, and the victim's
    own folder, which holds what must not change."""

    def __init__(self, victim):
        self.victim = victim
        self.top = tempfile.mkdtemp(prefix="weir-doors-")
        os.chmod(self.top, 0o755)
        self.shared = self.folder("shared", 0, 0o1777)
        self.home = self.folder("home", victim, 0o755)
        self.lair = self.folder("lair", STRANGER, 0o755)
        self.precious = os.path.join(self.home, "precious")
        with open(self.precious, "w", encoding="ascii") as file:
            file.write("precious " * 10000)
        os.chown(self.precious, victim, victim)
        self.data = os.path.join(self.home, "data")
        must(weir(victim, "gen", "caltech101", self.data, "-n", "20", "-c",
                  "2", "-q"))

    def folder(self, name, uid, mode):
        path = os.path.join(self.top, name)
        os.mkdir(path)
        os.chown(path, uid, uid)
        os.chmod(path, mode)
        return path

    def refused(self, result, *words):
        """The command failed, said why, and changed nothing."""
        assert result.returncode == 1, (result.returncode, result.stdout)
        for word in words:
            assert word in result.stdout, (word, result.stdout)


def own_memory():
    """A /dev/shm of our own: what a case leaves there, weir of the same user in
    another test would save."""
    if ctypes.CDLL(None).unshare(0x20000) == 0:  # CLONE_NEWNS
        subprocess.run(["sh", "-c", "mount --make-rprivate / && mount -t tmpfs "
                        "-o mode=1777 none /dev/shm"], check=True)


def main(cases):
    """Runs the case that the command line names, from the names of a file."""
    case = cases[sys.argv[1].replace("-", "_")]
    if os.geteuid() != 0:
        skip("needs root, to become two users")
    os.umask(0o022)
    own_memory()
    if weir(VICTIMS[0], "--version").returncode != 0:
        skip("another user cannot run the command here")
    for victim in VICTIMS:
        place = Place(victim)
        try:
            case(place)
        finally:
            shutil.rmtree(place.top)
