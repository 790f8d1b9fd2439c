#!/bin/sh
# install.sh - installs what was built.
# SPDX-License-Identifier: Apache-2.0
#
# usage: install.sh BUILD-DIRECTORY PREFIX [DESTDIR]
set -eu

cd "$(dirname "$0")/.."
build=$1
prefix=$2
destdir=${3:-}

if ! grep -qxF "prefix = $prefix" "$build/meson-private/cmd_line.txt"; then
    meson configure "$build" "-Dprefix=$prefix"
    ninja -C "$build" product >/dev/null
fi
DESTDIR=$destdir meson install -C "$build" --no-rebuild --quiet
# The loader learns of a new library only from ldconfig, which needs root.
if [ -z "$destdir" ] && [ "$(id -u)" -eq 0 ]; then
    ldconfig || true
fi
echo "installed below $destdir$prefix"
