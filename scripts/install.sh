#!/bin/sh
# install.sh - installs what was built, or removes what that installed.
# SPDX-License-Identifier: Apache-2.0
#
# usage: install.sh [--remove] BUILD-DIRECTORY PREFIX [DESTDIR]
set -eu

cd "$(dirname "$0")/.."
remove=
[ "$1" != --remove ] || { remove=yes; shift; }
build=$1
prefix=$2
destdir=${3:-}

# Removes each file that is installed now, and the folders that are weir's own.
remove_all() {
    plan=$(mktemp -d)
    trap 'rm -rf "$plan"' EXIT
    DESTDIR=$plan meson install -C "$build" --no-rebuild --quiet
    (cd "$plan" && find . ! -type d) | while read -r path; do
        rm -f "$destdir/$path"
    done
    (cd "$plan" && find . -depth -type d -name weir) | while read -r path; do
        [ ! -d "$destdir/$path" ] ||
            rmdir --ignore-fail-on-non-empty "$destdir/$path"
    done
}

if ! grep -qxF "prefix = $prefix" "$build/meson-private/cmd_line.txt"; then
    meson configure "$build" "-Dprefix=$prefix"
    ninja -C "$build" product >/dev/null
fi
if [ -n "$remove" ]; then
    remove_all
    word=removed
else
    DESTDIR=$destdir meson install -C "$build" --no-rebuild --quiet
    word=installed
fi
# The loader learns of a new library only from ldconfig, which needs root.
if [ -z "$destdir" ] && [ "$(id -u)" -eq 0 ]; then
    ldconfig || true
fi
echo "$word below $destdir$prefix"
