#!/usr/bin/env python3
# programs.py - helper programs, modules and files that take one over.
# SPDX-License-Identifier: Apache-2.0
import ctypes
import glob
import os
import resource
import shutil
import signal
import struct
import subprocess
import time

from kit import STRANGER, WEIR, main, must, plant, run_as

BUILD = os.path.dirname(WEIR)
HDF5 = os.environ["HDF5_DATA"]
# As users have it: nothing is named but what the installation has.
PLAIN = {"WEIR_HDF5_HELPER": "", "WEIR_MODULES": "", "WEIR_TRACE_LIBRARY": "",
         "LD_LIBRARY_PATH": BUILD + "/src"}
NAMES = ("weir-hdf5", "libweir-trace.so", "weir-mpi-openmpi.so",
         "weir-mpi-mpich.so", "weir-onednn.so")
PIDFD_GETFD = 438  # the system call, which Python does not have
FOLDERS = (".", "libexec", "lib/weir", "src/comm", "src/train",
           "src/trace/preload")


def plant_all(folder):
    """The other user's code by every name that weir looks for."""
    for place in FOLDERS:
        for name in NAMES:
            code = "MARKER_MODULE" if name.endswith(".so") else "MARKER"
            plant(STRANGER, 'mkdir -p "$2"; cp "$1" "$2/$3"; '
                  'chmod 777 "$2" 2>/dev/null || :', os.environ[code],
                  os.path.normpath(f"{folder}/{place}"), name)


def weir_plain(p, *args):
    return run_as(p.victim, *args, env=PLAIN)


def nothing_ran(p, result):
    ran = glob.glob(p.top + "/**/*.ran", recursive=True)
    assert not ran, (ran, result.stdout)


def copied(p, source, folder):
    """A program that the victim has put into a folder."""
    path = f"{folder}/{os.path.basename(source)}"
    shutil.copy(source, path)
    os.chown(path, p.victim, p.victim)
    return path


def data_of(p, name="rows.h5"):
    return copied(p, f"{HDF5}/{name}", p.home) + "#data=/x,label=/y"


def program_helper(p):
    """A program of another user that uses libweir, in its folder."""
    plant_all(p.lair)
    plant(STRANGER, 'mkdir "$2/bin"; cp "$1" "$2/bin/feed"; cp "$1" "$2/feed"',
          os.environ["FEED"], p.lair)
    for feed in (p.lair + "/feed", p.lair + "/bin/feed"):
        result = run_as(p.victim, feed, data_of(p, "tiles.h5"), env=PLAIN)
        nothing_ran(p, result)
        assert "batch 0" in must(result), result.stdout


def program_copied(p):
    """A copy of the command, in a folder that others can write to."""
    os.mkdir(p.shared + "/bin")
    os.chown(p.shared + "/bin", p.victim, p.victim)
    for folder in (p.shared, p.shared + "/bin"):
        weir = copied(p, WEIR, folder)
        plant_all(p.shared)
        result = weir_plain(p, weir, "inspect", data_of(p))
        nothing_ran(p, result)
        refused(result, "weir-hdf5")
        result = weir_plain(p, weir, "trace", "-o", p.home + "/t.wtrace", "--",
                            "true")
        nothing_ran(p, result)
        refused(result, "libweir-trace.so")
        result = weir_plain(p, weir, "doctor", p.home)
        nothing_ran(p, result)


def refused(result, name):
    """Not used, and said why; or weir is installed, which is used then."""
    if result.returncode != 0:
        for word in (name + "': ", f"belongs to user {STRANGER}"):
            assert word in result.stdout, (word, result.stdout)


# --- files that take the helper over, or much memory ---


def bomb(p, rows, size):
    """A file whose chunks of 4 rows were hardly ever written; its URL."""
    with open(f"{HDF5}/fill.h5", "rb") as file:
        data = file.read()
    old, new = struct.pack("<3Q", 12, 6, 8), struct.pack("<3Q", rows, 6, 8)
    assert old in data
    path = f"{p.home}/bomb.h5"
    with open(path, "wb") as file:
        file.write(data.replace(old, new))
        file.truncate(max(size, len(data)))
    os.chmod(path, 0o644)
    return path + "#data=/x"


def cpu_seconds():
    """Of all processes that were waited for: other load does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def hdf5_bombs(p):
    """Little in a file, much of it in memory: refused, with the reason."""
    for rows, why in ((4 << 27, "more than 1049147 chunks"),
                      (1 << 62, "overflows"), (4 << 20, None)):
        before = cpu_seconds()
        result = run_as(p.victim, WEIR, "inspect", "-q", bomb(p, rows, 0))
        assert why or result.returncode == 0, result.stdout
        assert not why or why in result.stdout, result.stdout
        assert cpu_seconds() - before <= 20, cpu_seconds() - before
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert most <= 1e9 / 1024, most


def helper_of(pid):
    """The first child of a process; 0: none."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return int((file.read().split() or ["0"])[0])
    except FileNotFoundError:
        return 0


def wait_for(what, seconds=60):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return what()


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def is_jailed(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return "Seccomp:\t2" in file.read()


def hold_sockets(pid):
    """Takes part in the sockets of a process: they stay open without it."""
    process = os.pidfd_open(pid)
    for fd in os.listdir(f"/proc/{pid}/fd"):
        if os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:"):
            got = ctypes.CDLL(None).syscall(PIDFD_GETFD, process, int(fd), 0)
            assert got >= 0, "no pidfd_getfd"


def hdf5_helper_ends(p):
    """A helper that is busy with a file, whoever made that, ends with weir."""
    url = bomb(p, 4 << 26, 1 << 30)
    with subprocess.Popen(
            ["setpriv", f"--reuid={p.victim}", f"--regid={p.victim}",
             "--clear-groups", WEIR, "inspect", "-q", url],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as weir:
        helper = wait_for(lambda: helper_of(weir.pid))
        assert helper, "no helper"
        assert wait_for(lambda: is_jailed(helper)), "no jail"
        hold_sockets(weir.pid)  # or it would see that weir is gone
        weir.kill()
        weir.wait()
    gone = wait_for(lambda: not is_alive(helper), 20)
    if not gone:
        os.kill(helper, signal.SIGKILL)
    assert gone, "the helper outlives weir"


# --- what a killed weir leaves in memory ---


def folder_of(pid):
    """Where a collector keeps its memory: it has the control file open."""
    for link in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            path = os.readlink(link)
        except OSError:
            continue
        if path.endswith("/control") and "/weir-trace-" in path:
            return os.path.dirname(path)
    return None


def trace_orphans(p):
    """Swept by the next weir of the same user, and of no other."""
    def traced(uid, folder, *args):
        return run_as(uid, WEIR, "trace", "-o", folder + "/next.wtrace", "--",
                      "true", *args, cwd=folder)

    with subprocess.Popen(
            ["setpriv", f"--reuid={p.victim}", f"--regid={p.victim}",
             "--clear-groups", WEIR, "trace", "-o", p.home + "/t.wtrace",
             "--", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL) as weir:
        assert wait_for(lambda: folder_of(weir.pid)), "no shared memory"
        left = folder_of(weir.pid)
        assert wait_for(lambda: os.path.exists(left + "/p1")), "not traced"
        weir.kill()
        weir.wait()
    assert os.path.isdir(left)
    for other in {STRANGER, 0} - {p.victim}:
        must(traced(other, p.folder(f"next-{other}", other, 0o755)))
        assert os.path.isdir(left), f"user {other} has swept it"
    must(traced(p.victim, p.home))
    assert not os.path.exists(left), "nothing was swept"


main(globals())
