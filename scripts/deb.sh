#!/bin/sh
# deb.sh - builds the Debian packages weir, libweir0 and libweir-dev.
# SPDX-License-Identifier: Apache-2.0
#
# usage: deb.sh OUTPUT-DIRECTORY
#
# The files are taken as they are and built in a copy, so that nothing of it
# stays in the tree.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$root"
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
[ "$(dpkg-parsechangelog -S Version)" = "$version" ] ||
    { echo "deb: debian/changelog and meson.build have different versions" >&2; exit 1; }
rm -rf "$out/weir-$version" "$out"/*.deb
mkdir "$out/weir-$version"
git ls-files -co --exclude-standard -z | xargs -0 -r ls -d 2>/dev/null |
    tar -c -T - | tar -x -C "$out/weir-$version"
cd "$out/weir-$version"
dpkg-buildpackage -b -us -uc >"$out/log" 2>&1 || { tail -n 40 "$out/log" >&2; exit 1; }
cd "$out"
rm -rf "weir-$version"
lintian --fail-on error "$out"/*.changes
ls "$out"/*.deb
