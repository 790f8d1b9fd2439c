#!/bin/sh
# build.sh - configures a build directory when needed, and builds it.
# SPDX-License-Identifier: Apache-2.0
#
# usage: build.sh DIRECTORY [MESON-OPTION...]
#
# Options are given to Meson when the directory is new, or when one of them
# was never given to it. Set NINJA_TARGETS to build less than all.
set -eu

dir=$1
shift
cd "$(dirname "$0")/.."

# True when the directory was configured with this -Dname=value.
is_given() {
    pair=${1#-D}
    grep -qxF "${pair%%=*} = ${pair#*=}" "$dir/meson-private/cmd_line.txt"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
step() {
    "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
}

if [ ! -f "$dir/build.ninja" ]; then
    echo "configuring $dir"
    rm -rf "$dir/meson-private" # of a setup that was broken off
    step meson setup "$dir" "$@"
else
    for option in "$@"; do
        is_given "$option" || step meson configure "$dir" "$option"
    done
fi
# shellcheck disable=SC2086 # a list of words
ninja -C "$dir" ${NINJA_TARGETS:-}
