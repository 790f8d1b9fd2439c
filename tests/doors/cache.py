#!/usr/bin/env python3
# cache.py - cache tiers in a folder that another user can write to.
# SPDX-License-Identifier: Apache-2.0
import glob
import os

from kit import STRANGER, digest, main, must, plant, run_as, weir

FORMER = ("weir-cache", "weir-cache-shared")  # names without a user


def names_of(p):
    return (f"weir-cache-{p.victim}",) + FORMER


def staged_elsewhere(p):
    """A tier of the data set as the other user gets it: its folder."""
    tier = p.folder("tier", STRANGER, 0o755)
    must(weir(STRANGER, "stage", p.data, f"{tier}:50M"))
    (root,) = glob.glob(tier + "/weir-cache*")
    return root


def cache_map_link(p):
    """A map that is a link would be cut: any file of the victim's."""
    hashed = os.path.basename(glob.glob(staged_elsewhere(p) + "/*")[0])
    for name in names_of(p):
        plant(STRANGER, 'mkdir -p "$1"; chmod 777 "${1%/*}" "$1"; '
              'ln -s "$2" "$1/map"', f"{p.shared}/{name}/{hashed}", p.precious)
    before = digest(p.home)
    result = weir(p.victim, "stage", p.data, f"{p.shared}:50M")
    assert digest(p.home) == before, "a file of the victim's changed"
    p.refused(result, f"weir-cache-{p.victim}'", "belongs to user 65533")


def cache_folder_link(p):
    """The folder itself as a link into the victim's files."""
    for name in names_of(p):
        plant(STRANGER, 'ln -s "$1" "$2"', p.home, f"{p.shared}/{name}")
    before = digest(p.home)
    result = weir(p.victim, "stage", p.data, f"{p.shared}:50M")
    assert digest(p.home) == before, "something was made in the victim's home"
    p.refused(result, "is a link of user 65533: it is not followed")


def cache_path_link(p):
    """A link of another user on the way to the folder."""
    os.mkdir(p.home + "/fast")
    os.chown(p.home + "/fast", p.victim, p.victim)
    plant(STRANGER, 'ln -s "$1" "$2"', p.home, f"{p.shared}/way")
    before = digest(p.home)
    result = weir(p.victim, "stage", p.data, f"{p.shared}/way/fast:50M")
    assert digest(p.home) == before, "a link of another user was followed"
    p.refused(result, "'way' is a link that belongs to user 65533")


def cache_old_link(p):
    """A link that stands for an older state, which is removed through it."""
    mine = p.folder("mine", p.victim, 0o755)
    must(weir(p.victim, "stage", p.data, f"{mine}:50M"))
    (old,) = glob.glob(mine + "/weir-cache*/*")
    os.utime(glob.glob(p.data + "/*/*")[0], (1, 1))
    for name in names_of(p):
        plant(STRANGER, 'mkdir "$2"; chmod 777 "$2"; ln -s "$1" "$2/"', old,
              f"{p.shared}/{name}")
    before = digest(mine)
    result = weir(p.victim, "stage", p.data, f"{p.shared}:50M")
    assert digest(mine) == before, "files were removed through a link"
    p.refused(result, "belongs to user 65533")


def cache_forged(p):
    """Samples of another user, with right checksums."""
    tier = staged_elsewhere(p)
    for name in names_of(p):
        plant(STRANGER, 'cp -r "$1" "$2"; chmod -R a+rwX "$2"', tier,
              f"{p.shared}/{name}")
    result = weir(p.victim, "stage", p.data, f"{p.shared}:50M")
    p.refused(result, "belongs to user 65533")


def cache_private(p):
    """What is kept of a data set that is private stays so."""
    os.chmod(p.data, 0o700)
    for name in glob.glob(p.data + "/*/*"):
        os.chmod(name, 0o600)
    must(weir(p.victim, "stage", p.data, f"{p.shared}:50M"))
    kept = glob.glob(p.shared + "/*/*/data-*")
    assert kept
    for name in kept:
        assert run_as(STRANGER, "cat", name).returncode != 0, name


def cache_shared(p):
    """A shared tier serves who asks for it, and no one else is served."""
    must(weir(STRANGER, "stage", p.data, f"{p.shared}:50M:share=all"))
    out = must(weir(p.victim, "stage", p.data, f"{p.shared}:50M"))
    assert "staged 20 now, 0 before" in out, out
    result = weir(p.victim, "bench", p.data, "--cache",
                  f"{p.shared}:50M:share=all", "--epochs", "1", "--json")
    assert '"dir_hits": 20' in must(result), result.stdout
    result = weir(p.victim, "stage", p.data, f"{p.shared}:50M:share=group")
    p.refused(result, "belongs to user 65533")


main(globals())
