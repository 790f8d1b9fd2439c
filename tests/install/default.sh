#!/bin/sh
# default.sh - `make install` without options, as the how-to says: linkers find
# the library; a tree that is moved works; `make uninstall` leaves nothing.
# SPDX-License-Identifier: Apache-2.0
#
# usage: default.sh BUILD SOURCE CC SANITIZER
set -eu

build=$1
source=$2
cc=$3
sanitizer=$4

skip() {
    echo "$*" >&2
    exit 77
}
fail() {
    echo "$*" >&2
    exit 1
}
option_of() {
    meson introspect "$1" --buildoptions | python3 -c '
import json, sys
print(*[o["value"] for o in json.load(sys.stdin) if o["name"] == sys.argv[1]])' "$2"
}

command -v pkg-config >/dev/null || skip "no pkg-config"
[ "$(option_of "$build" prefix)" = /usr/local ] || skip "another prefix"

# In a mount namespace nothing outside changes.
if [ -z "${WEIR_TEST_INSIDE:-}" ]; then
    dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
    trap 'rm -rf "$dir"' EXIT
    user=
    [ "$(id -u)" -eq 0 ] || user=--map-root-user
    # shellcheck disable=SC2086 # nothing, or one word
    unshare $user --mount true 2>"$dir/why" || skip "$(cat "$dir/why")"
    # shellcheck disable=SC2086
    WEIR_TEST_INSIDE=$dir unshare $user --mount --propagation private "$0" "$@"
    exit
fi
dir=$WEIR_TEST_INSIDE
mkdir "$dir/local" "$dir/cache" "$dir/moved"
cp -a /etc "$dir/etc" 2>/dev/null || true # some is root's alone
mount --bind "$dir/etc" /etc
mount --bind "$dir/local" /usr/local
[ ! -d /var/cache/ldconfig ] || mount --bind "$dir/cache" /var/cache/ldconfig
for tool in meson ninja pkg-config "${cc%% *}"; do
    command -v "$tool" >/dev/null || skip "$tool is below /usr/local"
done
unset LD_LIBRARY_PATH PKG_CONFIG_PATH WEIR_MODULES WEIR_HDF5_HELPER

# Meson asks dpkg-dev for the place of libraries, if that is installed.
if command -v dpkg-architecture >/dev/null; then
    mount --bind /bin/false "$(command -v dpkg-architecture)"
fi
meson setup "$dir/fresh" "$source" -Dtests=disabled >"$dir/log" 2>&1 ||
    fail "$(cat "$dir/log")"
libdir=/usr/local/$(option_of "$dir/fresh" libdir)
pkg-config --variable=pc_path pkg-config | tr : '\n' |
    grep -qx "$libdir/pkgconfig" || fail "pkg-config does not look into $libdir"
mkdir -p "$libdir"
ldconfig -N -X -v 2>/dev/null | grep -q "^${libdir}[: ]" ||
    fail "the loader does not look into $libdir"

"$source/scripts/install.sh" "$build" /usr/local >"$dir/log"
libdir=/usr/local/$(option_of "$build" libdir)
[ -e "$libdir/weir/libweir-trace.so" ] || fail "no libweir-trace.so"
! ldconfig -p | grep libweir-trace || fail "the loader knows libweir-trace.so"
cd "$dir"
# shellcheck disable=SC2046,SC2086 # lists of words
$cc "$source/examples/feed.c" -o feed ${sanitizer:+"-fsanitize=$sanitizer"} \
    $(pkg-config --cflags --libs weir)
"$source/examples/run.sh" "$dir/feed" \
    'epoch 0 batch 3: 6 samples, 72 bytes, first sample [0-9]*' 8

# uses PREFIX: the command, and a program, find what is not in them
uses() {
    [ -n "$sanitizer" ] || "$1/bin/weir" trace -o "${1##*/}.wtrace" -- true 2>>log
    if [ -e "$1/libexec/weir-hdf5" ]; then
        "$1/bin/weir" doctor "$dir" | grep -q '^ok *HDF5'
        ./feed "$source/tests/data/hdf5/tiles.h5#data=/x,label=/y" | grep -q 'batch 0'
    fi
    if [ -e "$build/src/train/weir-onednn.so" ]; then
        "$1/bin/weir" doctor "$dir" | grep -q '^ok *oneDNN'
    fi
}
uses /usr/local
cp -a /usr/local/. "$dir/moved"
"$source/scripts/install.sh" --remove "$build" /usr/local >>log
# Folders that others use, too, stay; no file does, and no folder of weir's own.
find /usr/local ! -type d >left
find /usr/local -name '*weir*' >>left
[ ! -s left ] || fail "left: $(cat left)"
LD_LIBRARY_PATH=$dir/moved/${libdir#/usr/local/} uses "$dir/moved"
# The two alone, side by side.
mkdir two
cp "moved/bin/weir" "moved/${libdir#/usr/local/}/weir/libweir-trace.so" two
[ -n "$sanitizer" ] || two/weir trace -o two.wtrace -- true 2>>log
