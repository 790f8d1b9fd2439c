#!/usr/bin/env python3
# staging.py - results and half-made folders beside those of another user.
# SPDX-License-Identifier: Apache-2.0
import glob
import os
import stat

from kit import (STRANGER, WEIR, digest, main, must, plant, run_as, skip,
                 weir)

WORKLOAD = ("default", "dataset.format=npz", "dataset.num_files_train=3",
            "dataset.num_files_eval=0", "dataset.record_length_bytes=4000")
CONVERT = ("--to", "tar", "-q")
THEIRS = "belongs to user 65533"


def own_folder(p, name):
    """A folder in the victim's home."""
    path = os.path.join(p.home, name)
    os.mkdir(path)
    os.chown(path, p.victim, p.victim)
    return path


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def attacked(p, command, *words):
    """The command fails and says so; the victim's files are as before."""
    before = digest(p.home)
    result = weir(p.victim, *command, cwd=p.home)
    assert digest(p.home) == before, ("a file of the victim's changed",
                                      result.stdout)
    p.refused(result, *words)


def stage_part_link(p):
    """The staging folder as a link into the victim's files."""
    plant(STRANGER, 'ln -s "$1" "$2"', own_folder(p, "empty"),
          f"{p.shared}/.t.part")
    attacked(p, ("convert", p.data, f"{p.shared}/t", *CONVERT),
             "is a link of user 65533: it is not followed")


def stage_part_forged(p):
    """Shards of another user, with the job file of the same conversion."""
    must(weir(STRANGER, "convert", p.data, f"{p.lair}/t", *CONVERT))
    plant(STRANGER, 'cp -r "$1" "$2"; chmod -R a+rwX "$2"', f"{p.lair}/t",
          f"{p.shared}/.t.part")
    attacked(p, ("convert", p.data, f"{p.shared}/t", *CONVERT), THEIRS)
    assert not os.path.exists(p.shared + "/t")


def stage_old_link(p):
    """What a killed run seems to have left, which is removed before the end."""
    must(weir(p.victim, "convert", p.data, f"{p.home}/t", *CONVERT))
    must(weir(p.victim, "convert", p.data, f"{p.shared}/t", *CONVERT))
    plant(STRANGER, 'ln -s "$1" "$2"', p.home + "/t", f"{p.shared}/.t.old")
    before = digest(p.shared)
    attacked(p, ("convert", p.data, f"{p.shared}/t", "--force", *CONVERT),
             THEIRS)
    assert digest(p.shared) == before


def stage_modes(p):
    """Nobody reads what is half made; the umask says who reads the result."""
    must(weir(p.victim, "convert", p.data, f"{p.shared}/t", *CONVERT))
    assert mode_of(p.shared + "/t") == 0o755
    os.rename(p.shared + "/t", p.shared + "/.t.part")
    os.chmod(p.shared + "/.t.part", 0o777)
    attacked(p, ("convert", p.data, f"{p.shared}/t", *CONVERT),
             "everybody can write to it")
    os.chmod(p.shared + "/.t.part", 0o755)  # as earlier versions left it
    must(weir(p.victim, "convert", p.data, f"{p.shared}/t", *CONVERT))


def gen_part_link(p):
    """The same of generated pictures."""
    plant(STRANGER, 'ln -s "$1" "$2"', own_folder(p, "empty"),
          f"{p.shared}/.d.part")
    attacked(p, ("gen", "caltech101", f"{p.shared}/d", "-n", "4", "--force",
                 "-q"), "is a link of user 65533: it is not followed")


def gen_set_part_link(p):
    """A link to a data set of the victim's that is being made."""
    own = p.home + "/d"
    must(weir(p.victim, "gen", *WORKLOAD[:1], own, *WORKLOAD[1:], "-q"))
    os.remove(glob.glob(own + "/train/**/*.npz", recursive=True)[0])
    plant(STRANGER, 'ln -s "$1" "$2"', own, f"{p.shared}/.d.part")
    attacked(p, ("gen", *WORKLOAD[:1], f"{p.shared}/d", *WORKLOAD[1:], "-q"),
             "is a link of user 65533: it is not followed")


def gen_set_part_forged(p):
    """Files of another user, with the job file of the same data set."""
    must(weir(STRANGER, "gen", *WORKLOAD[:1], f"{p.lair}/d", *WORKLOAD[1:],
              "-q"))
    plant(STRANGER, 'cp -r "$1" "$2"; chmod -R a+rwX "$2"', f"{p.lair}/d",
          f"{p.shared}/.d.part")
    attacked(p, ("gen", *WORKLOAD[:1], f"{p.shared}/d", *WORKLOAD[1:], "-q"),
             THEIRS)
    assert not os.path.exists(p.shared + "/d")


def study(p):
    return ("study", f"{p.shared}/s", "--quick", "--images", "4", "--repeat",
            "2", "--only", "fig5", "--threads", "1", "--quiet")


def study_data_link(p):
    """A study's folder of data as a link: it is tidied before the start."""
    own = own_folder(p, "mine")
    for name in ("run-1", ".profile"):
        with open(f"{own}/{name}", "w", encoding="ascii") as file:
            file.write("precious")
    plant(STRANGER, 'mkdir -m 777 "$2"; ln -s "$1" "$2/data"', own,
          f"{p.shared}/s")
    attacked(p, study(p), "is a link of user 65533: it is not followed")
    before = digest(p.home)
    weir(p.victim, "study", f"{p.shared}/s", "--clean")
    assert digest(p.home) == before


def study_cells_forged(p):
    """What another user has measured does not count."""
    plant(STRANGER, 'mkdir -m 777 -p "$1" "$1/cells"', f"{p.shared}/s")
    attacked(p, study(p), THEIRS)


def study_result_link(p):
    """A link of the user's own, which others moved to where results go."""
    folder = p.folder("study", p.victim, 0o777)
    for name in "study.json", "study.html":
        os.symlink(p.precious, f"{folder}/{name}")
        os.lchown(f"{folder}/{name}", p.victim, p.victim)
    before = digest(p.home)
    args = list(study(p))
    args[1] = folder
    must(weir(p.victim, *args))
    assert digest(p.home) == before
    assert not os.path.islink(folder + "/study.json")


def record_link(p):
    """A link of another user where a record is to be written."""
    plant(STRANGER, 'ln -s "$1" "$2"', p.precious, f"{p.shared}/r.json")
    attacked(p, ("bench", p.data, "--epochs", "1", "-o",
                 f"{p.shared}/r.json"), "is a link that " + THEIRS)


def record_private(p):
    """A record tells of paths and of the machine."""
    must(weir(p.victim, "bench", p.data, "--epochs", "1", "-o",
              f"{p.shared}/r.json"))
    assert mode_of(p.shared + "/r.json") == 0o600


def probe_private(p):
    """What a killed probe leaves: others could hold its lock for ever."""
    probe = ("weir=$1; shift; \"$weir\" probe \"$1\" --file-size 32MiB -q & "
             "until ls \"$1\"/weir-probe.*/lock; do kill -0 $!; sleep 0.02; "
             "done >/dev/null 2>&1; kill -KILL $!")
    must(run_as(p.victim, "sh", "-euc", probe, "sh", WEIR, p.shared))
    (left,) = glob.glob(p.shared + "/weir-probe.*")
    assert mode_of(left) == 0o700
    held = run_as(STRANGER, "flock", "-n", left + "/lock", "true")
    assert held.returncode != 0, "another user takes the lock"


def trace_private(p):
    """A trace has the arguments of programs."""
    result = weir(p.victim, "trace", "-q", "-o", f"{p.shared}/t.wtrace", "--",
                  "true")
    if "no libweir-trace.so" in result.stdout:
        skip("weir trace was not built")
    must(result)
    trace = p.shared + "/t.wtrace"
    assert mode_of(trace) == 0o600
    for form in "text", "csv", "json", "chrome", "darshan":
        must(weir(p.victim, "report", trace, "--as", form, "--output",
                  f"{p.shared}/r.{form}"))
        assert mode_of(f"{p.shared}/r.{form}") == 0o600, form
    result = weir(p.victim, "report", trace, "--html", f"{p.shared}/r.html")
    assert result.returncode or mode_of(f"{p.shared}/r.html") == 0o600


main(globals())
