#!/bin/sh
# clean-check.sh - runs the tasks in a clean place, so that no missing install
# step hides.
# SPDX-License-Identifier: Apache-2.0
#
# usage: clean-check.sh [--chroot SUITE] [--user] [--worktree] [--keep] [TARGET...]
#
# Clones HEAD into a new directory and runs `make TARGET` there; the targets
# are demo and test when none is given.
#   --chroot    in a new minimal Debian, bookworm (12), trixie (13) or sid, with
#               nothing but make and git (needs root, debootstrap and the
#               network; about 2 GB in TMPDIR)
#   --user      in that as a user, with the packages that the targets need there
#   --worktree  takes the files as they are, not HEAD
#   --keep      leaves the place for a look, and says where it is
# MIRROR names another Debian mirror, TMPDIR another place than /var/tmp.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
mirror=${MIRROR:-}
chroot=
user=
worktree=
keep=
targets=

usage() {
    sed -n '/^# usage/,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

all="$*"
while [ $# -gt 0 ]; do
    case $1 in
    --chroot)
        [ $# -gt 1 ] || usage
        chroot=$2
        shift
        ;;
    --user) user=yes ;;
    --worktree) worktree=yes ;;
    --keep) keep=yes ;;
    -*) usage ;;
    *) targets="$targets $1" ;;
    esac
    shift
done
targets=${targets:-demo test}
[ -z "$user" ] || [ -n "$chroot" ] || usage

# In a mount namespace of its own, a mount cannot outlive this script.
if [ -n "$chroot" ] && [ -z "${WEIR_CLEAN_CHECK:-}" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "clean-check: --chroot needs root" >&2; exit 1; }
    command -v debootstrap >/dev/null ||
        { echo "clean-check: apt-get install debootstrap" >&2; exit 1; }
    # shellcheck disable=SC2086 # no argument has spaces
    WEIR_CLEAN_CHECK=1 exec unshare --mount --propagation private "$0" $all
fi

place=$(mktemp -d "${TMPDIR:-/var/tmp}/weir-clean.XXXXXX")
chmod 755 "$place" # as a root folder is

unmount_all() {
    for inner in "$place/dev" "$place/proc" "$place/sys" "$place"; do
        if mountpoint -q "$inner"; then
            umount -R -l "$inner"
        fi
    done
}

finish() {
    status=$?
    trap - EXIT INT TERM
    if [ -n "$chroot" ]; then
        unmount_all
    fi
    if [ -n "$keep" ]; then
        echo "clean-check: kept $place"
    else
        rm -rf --one-file-system "$place"
    fi
    exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

copy_sources() {
    if [ -n "$worktree" ]; then
        mkdir -p "$1"
        (cd "$root" && git ls-files -co --exclude-standard -z |
            xargs -0 -r ls -d 2>/dev/null | tar -c -T - | tar -x -C "$1")
    else
        git clone -q "$root" "$1"
    fi
}

if [ -n "$chroot" ]; then
    echo "clean-check: a minimal Debian ($chroot) in $place"
    debootstrap --variant=minbase --include=make,git "$chroot" "$place" \
        ${mirror:+"$mirror"} >"$place.log" 2>&1 ||
        { tail -n 20 "$place.log" >&2; rm -f "$place.log"; exit 1; }
    rm -f "$place.log"
    cp -L /etc/resolv.conf "$place/etc/resolv.conf"
    mount --bind "$place" "$place" # so that "/" is a mount in there, as usual
    mount --rbind /dev "$place/dev"
    mount -t proc proc "$place/proc"
    mount -t sysfs -o ro sysfs "$place/sys" # MPI asks for cores and networks
    copy_sources "$place/srv/weir"
    # Nothing of this machine's environment but the way out to the network.
    within() {
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/nonexistent \
            ${http_proxy:+"http_proxy=$http_proxy"} \
            chroot "$place" "$@"
    }
    if [ -n "$user" ]; then
        within sh -c 'cd /srv/weir && scripts/deps.sh build test &&
            useradd -m weir && chown -R weir .'
        run() { within su weir -c "make -C /srv/weir $1"; }
    else
        run() { within make -C /srv/weir "$1"; }
    fi
else
    copy_sources "$place/weir"
    run() { make -C "$place/weir" "$1"; }
fi

for target in $targets; do
    echo "clean-check: make $target"
    start=$(date +%s)
    run "$target"
    echo "clean-check: make $target: ok in $(($(date +%s) - start)) s"
done
echo "clean-check: ok"
