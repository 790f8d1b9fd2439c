#!/bin/sh
# debian.sh - the two commands of README in a new minimal Debian.
# SPDX-License-Identifier: Apache-2.0
#
# usage: debian.sh SOURCES SUITE [OPTION...]     options of clean-check.sh
#
# Exit code 77: not root, or no debootstrap, or no archive of Debian in reach.
set -eu

sources=$1 suite=$2
shift 2
# The archive of this machine, from whichever of the two files there is.
archive=${MIRROR:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources \
    2>/dev/null | awk '$1 == "URIs:" { print $2; exit }
    $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^http/) { print $i; exit } }')}

skip() { echo "skipped: $*"; exit 77; }

[ "$(id -u)" -eq 0 ] || skip "a chroot needs root"
command -v debootstrap >/dev/null || skip "no debootstrap"
unshare --mount true 2>/dev/null || skip "no mount namespaces here"
/usr/bin/python3 - "$archive/dists/$suite/Release" <<'P' || skip "no archive of Debian in reach"
import sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=20).read(1)
P
MIRROR=$archive "$sources/scripts/clean-check.sh" --chroot "$suite" "$@"
