#!/usr/bin/env python3
# ranks.py - locks, sockets and ports that another user can reach.
# SPDX-License-Identifier: Apache-2.0
import glob
import json
import os
import random
import shutil
import socket
import stat
import struct
import subprocess
import sys
import time

from kit import STRANGER, WEIR, digest, main, must, plant, weir

HOLD = """
import fcntl, sys, time
with open(sys.argv[1], "rb") as file:
    fcntl.lockf(file, fcntl.LOCK_SH)
    print("held", flush=True)
    time.sleep(100)
"""
FLOOD = """
import socket, sys, time
held = []
for k in range(900):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    s.send(b"w" * (k % 30))
    held.append(s)
print("held", flush=True)
time.sleep(100)
"""
KIT = """
framework: pytorch
workflow: {train: True}
dataset: {format: synthetic, num_files_train: 4, num_samples_per_file: 1}
reader: {batch_size: 1}
train: {epochs: 1, computation_time: 0.001}
"""


def start_as(uid, *args, env=None):
    prefix = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    return subprocess.Popen(
        prefix + list(args), cwd="/", stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "HOME": "/nonexistent", **(env or {})})


def run_ranks(uid, description, variables, before_last=None):
    """Two ranks of a run: what both printed. `before_last` is called before the
    second one is started."""
    done = []
    command = (WEIR, "run", description, "--no-selftest", "--monitor", "0")
    first = start_as(uid, *command, env=variables(0))
    try:
        if before_last:
            before_last(first)
        second = start_as(uid, *command, env=variables(1))
        for process in first, second:
            done.append((process.communicate(timeout=100)[0],
                         process.returncode))
    finally:
        first.kill()
    return done


def description(p):
    name = p.top + "/kit.yaml"
    with open(name, "w", encoding="ascii") as file:
        file.write(KIT)
    return name


def save(p, step, *args):
    head = json.dumps({"w": {"dtype": "F32", "shape": [256],
                             "data_offsets": [0, 1024]}}).encode()
    state = p.home + "/model.safetensors"
    with open(state, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + b"w" * 1024)
    return weir(p.victim, "ckpt", "save", p.home + "/store", "--from", state,
                "--step", str(step), *args)


def lock_held(p):
    """A read lock of somebody who may read the store keeps its owner out."""
    must(save(p, 1))
    lock = p.home + "/store/.weir/lock"
    holder = start_as(STRANGER, sys.executable, "-c", HOLD, lock)
    try:
        said = holder.stdout.readline()
        must(save(p, 2))
        assert said != "held\n", "another user has the lock"
    finally:
        holder.kill()
        holder.communicate()
    # Who may read the store still sees what is in it.
    out = must(weir(STRANGER, "ckpt", "ls", p.home + "/store"))
    assert "2" in out, out


def lock_mode(p):
    """Of an earlier version, and in a folder of a group."""
    must(save(p, 1))
    lock = p.home + "/store/.weir/lock"
    os.chmod(lock, 0o644)
    must(save(p, 2))
    assert stat.S_IMODE(os.stat(lock).st_mode) == 0o600
    os.chmod(p.home + "/store/.weir", 0o2775)
    must(save(p, 3))
    assert stat.S_IMODE(os.stat(lock).st_mode) == 0o660


def of_a_job(job):
    return lambda rank: {
        "SLURM_JOB_ID": str(job), "SLURM_STEP_ID": "0",
        "SLURM_PROCID": str(rank), "SLURM_STEP_NUM_TASKS": "2",
        "SLURM_LOCALID": str(rank), "SLURM_NODEID": "0",
        "SLURM_STEP_TASKS_PER_NODE": "2", "SLURM_STEP_NODELIST": "n1",
        "WEIR_MPI": "none"}


def free_user(p):
    """One whose folder in /tmp no other test has."""
    return 70000 + 2 * (os.getpid() % 100000) + (p.victim == 0)


def socket_file(p):
    """A file at the place where the socket of a job once was."""
    uid, job = free_user(p), 700000 + os.getpid()
    path = f"/tmp/weir-{uid}-{job}.0-main"
    plant(STRANGER, 'echo mine >"$1"; echo mine >"$1~lock"', path)
    try:
        done = run_ranks(uid, description(p), of_a_job(job))
        assert [code for _, code in done] == [0, 0], done
        at = os.lstat(f"/tmp/weir-{uid}")
        assert at.st_uid == uid and stat.S_IMODE(at.st_mode) == 0o700, at
        assert not os.listdir(f"/tmp/weir-{uid}")
    finally:
        for name in glob.glob(path + "*"):
            os.unlink(name)
        shutil.rmtree(f"/tmp/weir-{uid}", ignore_errors=True)


def socket_folder(p):
    """The folder of a user's sockets, made by another user."""
    uid = free_user(p)
    folder = f"/tmp/weir-{uid}"
    own = p.folder("own", uid, 0o755)
    for script in 'mkdir -m 777 "$1"', 'ln -s "$2" "$1"', 'echo >"$1"':
        plant(STRANGER, script, folder, own)
        before = digest(own)
        try:
            done = run_ranks(uid, description(p), of_a_job(os.getpid()))
            assert [code for _, code in done] == [1, 1], done
            assert folder in done[0][0], done
            assert ("65533" if os.path.isdir(folder) else "not a folder") in \
                done[0][0], done
            assert digest(own) == before, "something was made through a link"
        finally:
            if os.path.isdir(folder) and not os.path.islink(folder):
                shutil.rmtree(folder)
            else:
                os.unlink(folder)


def free_port():
    with socket.socket() as s:
        port = random.randrange(20000, 30000)  # not those of connections
        s.bind(("127.0.0.1", port))
        return port


def at_a_port(port):
    return lambda rank: {
        "RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank),
        "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port - 1), "WEIR_SECRET": "ours"}


def wait_for(port, process):
    """When rank 0 listens."""
    while process.poll() is None:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(0.01)
    raise AssertionError(process.communicate()[0])


def port_version(p):
    """One packet of another version, from somebody who knows no secret."""
    port = free_port()

    def knock(first):
        for version in 1, 2, 3, 9:
            for rank in 1, 99:
                numbers = struct.pack("<QIIII64s", 0x6f6c6c6568726977, version,
                                      rank, 2, 0, b"main")
                token = bytes(32) # it stands last, or first
                for hello in numbers + token, token + numbers:
                    with wait_for(port, first) as s:
                        s.send(hello)

    done = run_ranks(p.victim, description(p), at_a_port(port), knock)
    assert [code for _, code in done] == [0, 0], done


def port_silent(p):
    """Connections that say nothing, or not enough."""
    port = free_port()
    flood = []

    def fill(first):
        wait_for(port, first).close()
        flood.append(start_as(STRANGER, sys.executable, "-c", FLOOD, str(port)))
        assert flood[0].stdout.readline() == "held\n"
        flood.append(time.monotonic())

    try:
        done = run_ranks(p.victim, description(p), at_a_port(port), fill)
        took = time.monotonic() - flood[1]
        assert [code for _, code in done] == [0, 0], done
        assert took < 30, took # it was over a minute
    finally:
        flood[0].kill()
        flood[0].communicate()


def port_address(p):
    """Rank 0 listens at the address that was named, and at no other."""
    port = free_port()

    def look(first):
        wait_for(port, first).close()
        with open("/proc/net/tcp", encoding="ascii") as file:
            at = [line.split()[1] for line in file
                  if line.split()[1].endswith(f":{port:04X}")
                  and line.split()[3] == "0A"]
        assert at == [f"0100007F:{port:04X}"], at

    done = run_ranks(p.victim, description(p), at_a_port(port), look)
    assert [code for _, code in done] == [0, 0], done


main(globals())
