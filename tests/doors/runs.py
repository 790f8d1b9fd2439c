#!/usr/bin/env python3
# runs.py - descriptions and benchmarks do not choose where to write.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import struct

from kit import STRANGER, digest, main, must, plant, weir

# A description of another user: it saves after its only epoch.
SAVES = """
model: {name: theirs, model_size_bytes: 100000}
framework: pytorch
workflow: {train: True, checkpoint: True}
dataset: {format: synthetic, num_files_train: 4, num_samples_per_file: 1}
reader: {batch_size: 1}
train: {epochs: 1, computation_time: 0.001}
"""
READS = """
framework: pytorch
workflow: {train: True}
dataset: {format: jpeg, num_files_train: 4, num_samples_per_file: 1%s}
reader: {batch_size: 1}
train: {epochs: 1, computation_time: 0.001}
"""
QUIET = ("--no-selftest", "--monitor", "0")


def write_as(p, uid, name, text):
    with open(name, "wb") as file:
        file.write(text.encode() if isinstance(text, str) else text)
    os.chown(name, uid, uid)
    return name


def real_store(p, steps=("1", "2")):
    """Checkpoints that somebody wants to keep: two steps in a store."""
    head = json.dumps({"w": {"dtype": "F32", "shape": [256],
                             "data_offsets": [0, 1024]}}).encode()
    state = write_as(p, p.victim, p.home + "/model.safetensors",
                     struct.pack("<Q", len(head)) + head + b"w" * 1024)
    store = os.path.join(p.home, "real")
    for step in steps:
        must(weir(p.victim, "ckpt", "save", store, "--from", state, "--step",
                  step))
    return store


def theirs(p, text):
    """A description that another user wrote."""
    return write_as(p, STRANGER, p.lair + "/theirs.yaml", text)


def run(p, description, *args, cwd=None):
    return weir(p.victim, "run", description, *QUIET, *args,
                cwd=cwd or p.home)


def refused_as(code, result, *words):
    assert result.returncode == code, (result.returncode, result.stdout)
    for word in words:
        assert word in result.stdout, (word, result.stdout)


def run_into_a_store(p):
    """A description that names a real store of the user."""
    store = real_store(p)
    before = digest(store)
    for folder, code, why in (("real", 1, "no benchmark of weir made"),
                              ("./real/", 1, "no benchmark of weir made"),
                              (store, 2, "is absolute"),
                              ("a/../real", 2, "'..'"),
                              ("emu:null:" + store, 2, "is a URL")):
        text = SAVES + f"checkpoint: {{checkpoint_folder: '{folder}'}}\n"
        result = run(p, theirs(p, text))
        assert digest(store) == before, "a real store changed: " + folder
        refused_as(code, result, folder.strip("./"), why)
    # Nor does the command line choose a store of another kind.
    result = run(p, theirs(p, SAVES), "--ckpt", "real")
    assert digest(store) == before, "a real store changed"
    refused_as(1, result, "'real'", "no benchmark of weir made")
    result = run(p, theirs(p, SAVES), "--ckpt", "new", "--slow", "real")
    assert digest(store) == before, "a real store changed"
    refused_as(1, result, "'real'", "no benchmark of weir made")


def run_says_where(p):
    """Folders are named before they are written to; benchmarks may repeat."""
    text = SAVES + "checkpoint: {checkpoint_folder: mine}\n"
    description = theirs(p, text)
    line = text[:text.index("mine")].count("\n") + 1
    for _ in range(2):
        out = must(run(p, description))
        assert f"saves checkpoints to 'mine' ('{description}':{line})" in out, \
            out
    out = must(run(p, description, "--ckpt", "fast", "--slow", "slow",
                   "--dlio-output", "dlio"))
    for words in ("saves checkpoints to 'fast' (--ckpt)", "'slow' (--slow)",
                  "'dlio' (--dlio-output)"):
        assert words in out, (words, out)
    must(run(p, description, f"checkpoint.checkpoint_folder={p.home}/mine"))


def run_unmarked(p):
    """What another program saves to takes the mark of benchmarks away."""
    must(run(p, theirs(p, SAVES), "--ckpt", "real"))
    store = real_store(p, ("11", "12"))
    before = digest(store)
    result = run(p, theirs(p, SAVES), "--ckpt", "real")
    assert digest(store) == before, "a real store changed"
    refused_as(1, result, "no benchmark of weir made")


def run_files(p):
    """The folder of other files beside the checkpoints."""
    os.mkdir(p.home + "/new-files")
    os.chown(p.home + "/new-files", p.victim, p.victim)
    write_as(p, p.victim, p.home + "/new-files/step-1-0", "precious")
    before = digest(p.home + "/new-files")
    text = SAVES + ("checkpoint: {checkpoint_folder: new}\n"
                    "weir: {checkpoint_files: [1000, 1000]}\n")
    result = run(p, theirs(p, text))
    assert digest(p.home + "/new-files") == before, "files were replaced"
    refused_as(1, result, "new-files", "no benchmark of weir made")
    os.rename(p.home + "/new-files", p.home + "/kept")
    for _ in range(2):
        assert "'new-files'" in must(run(p, theirs(p, text)))


def run_data_url(p):
    """A data folder that is a URL which writes, and other ways out."""
    for key in "data_folder: '%s'", "data_folder: x}\nstorage: {storage_root: '%s'":
        for folder, why in ((f"emu:null,trace={p.precious}:data", "is a URL"),
                            (p.data, "is absolute"), ("../home/data", "'..'")):
            before = digest(p.home)
            result = run(p, theirs(p, READS % (", " + key % folder)))
            assert digest(p.home) == before, "a file of the victim's changed"
            refused_as(2, result, why, "command line")
    must(run(p, theirs(p, READS % ""), p.data))
    must(run(p, theirs(p, READS % ""), "dataset.data_folder=" + p.data))


def run_link(p):
    """A folder below the current one that is a link of another user."""
    must(weir(p.victim, "run", theirs(p, SAVES), *QUIET, "--ckpt", "mine",
              cwd=p.home))
    plant(STRANGER, 'ln -s "$1" "$2"', p.home, p.shared + "/way")
    before = digest(p.home)
    for folder in "way/mine", "way":
        text = SAVES + f"checkpoint: {{checkpoint_folder: {folder}}}\n"
        result = run(p, theirs(p, text), cwd=p.shared)
        assert digest(p.home) == before, "a link of another user was followed"
        refused_as(2, result, "'way' is a link that belongs to user 65533")


def run_dlio_links(p):
    """Links below the folder of DLIO's results, whoever put them there."""
    for name in "conf", "out":
        os.mkdir(f"{p.home}/{name}")
        os.chown(f"{p.home}/{name}", p.victim, p.victim)
    out, conf = p.home + "/out", p.home + "/conf"
    os.chmod(out, 0o777)
    names = ("0_output.json", "0_per_epoch_stats.json", "dlio.log",
             "summary.json")
    args = theirs(p, SAVES), "--ckpt", "new", "--dlio-output", out
    before = digest(conf, p.data), open(p.precious).read()
    plant(STRANGER, 'ln -s "$1" "$2"', conf, out + "/dlio_config")
    result = run(p, *args)
    assert (digest(conf, p.data), open(p.precious).read()) == before, \
        "a link was followed"
    refused_as(1, result, "dlio_config", "is a link of user 65533")
    os.remove(out + "/dlio_config")
    for owner in STRANGER, p.victim:
        for name in names:
            if os.path.exists(f"{out}/{name}"):
                os.remove(f"{out}/{name}")
            os.symlink(p.precious, f"{out}/{name}")
            os.lchown(f"{out}/{name}", owner, owner)
        must(run(p, *args))
        assert (digest(conf, p.data), open(p.precious).read()) == before, \
            "a link was followed"
        assert not any(os.path.islink(f"{out}/{name}") for name in names)


def bench_links(p):
    """Links where benchmarks have their folders, below those that are named."""
    empty = p.home + "/empty"
    os.mkdir(empty)
    os.chown(empty, p.victim, p.victim)
    disk = p.folder("disk", STRANGER, 0o777)
    before = digest(empty)
    plant(STRANGER, 'ln -s "$1" "$2"', empty, disk + "/weir-ckpt-bench-slow")
    plant(STRANGER, 'ln -s "$1" "$2"', empty, disk + "/new-files")
    result = weir(p.victim, "ckpt", "bench", disk, disk, "--state", "small",
                  "--saves", "1", "--monitor", "0")
    assert digest(empty) == before, "a link was followed"
    p.refused(result, "'weir-ckpt-bench-slow' is a link that belongs to user")
    text = SAVES + "weir: {checkpoint_files: [1000, 1000]}\n"
    result = run(p, theirs(p, text), "--ckpt", "new", cwd=disk)
    assert digest(empty) == before, "a link was followed"
    p.refused(result, "'new-files' is a link that belongs to user 65533")


def trace_of_a_device(p):
    """The file that an emulated device appends to, as a link."""
    plant(STRANGER, 'ln -s "$1" "$2"', p.precious, p.shared + "/moved")
    before = digest(p.home)
    result = weir(p.victim, "bench", f"emu:null,trace={p.shared}/moved:{p.data}",
                  "--epochs", "1")
    assert digest(p.home) == before, "a file of the victim's changed"
    p.refused(result, "is a link of user 65533")


def bench_in_a_store(p):
    """A real store where ckpt bench has its tiers."""
    disk = p.folder("disk", p.victim, 0o755)
    store = real_store(p)
    for name in "fast", "slow":
        tier = f"{disk}/weir-ckpt-bench-{name}"
        os.rename(store, tier)
        before = digest(disk)
        result = weir(p.victim, "ckpt", "bench", disk, disk, "--state", "small",
                      "--saves", "1", "--monitor", "0")
        assert digest(disk) == before, "a real store was removed"
        p.refused(result, tier, "no benchmark of weir made")
        os.rename(tier, store)
    for _ in range(2):
        must(weir(p.victim, "ckpt", "bench", disk, disk, "--state", "small",
                  "--saves", "1", "--monitor", "0"))
    assert not os.listdir(disk)


def mount_allow_other(p):
    """Root's mount for others: what they do there would be done as root."""
    at = p.folder("at", p.victim, 0o755)
    result = weir(p.victim, "mount", "--allow-other", "--background",
                  "--profile", "null", p.home, at)
    if result.returncode == 0:
        must(weir(p.victim, "mount", "--unmount", at))
    if p.victim == 0:
        p.refused(result, "root does not mount for other users")


main(globals())
