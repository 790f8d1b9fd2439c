#!/bin/sh
# variant.sh - another build of weir: other compilers, without optional parts.
# SPDX-License-Identifier: Apache-2.0
#
# usage: variant.sh SOURCES COMPILER [MESON-OPTION...]
#
# Builds everything in a folder of its own, where a warning is an error, and runs
# the unit tests and those of the command line. COMPILER is a name, such as cc;
# name- stands for the newest one that is installed (clang-: clang-14 or clang).
# Exit code 77: there is no such compiler.
set -eu

sources=$1 compiler=$2
shift 2

# The highest number behind "name-", or the name alone.
newest() {
    # shellcheck disable=SC2046 # a list of folders
    find $(echo "$PATH" | tr : ' ') -maxdepth 1 -name "$1-[0-9]*" 2>/dev/null |
        sed -n "s,.*/\($1-[0-9]*\)\$,\1,p" | sort -t- -k2n | tail -n 1
}

case $compiler in
*-)
    name=${compiler%-}
    compiler=$(newest "$name")
    compiler=${compiler:-$name}
    ;;
esac
command -v "$compiler" >/dev/null || { echo "skipped: no $compiler"; exit 77; }
echo "$("$compiler" --version | head -n 1): $*"
if command -v ccache >/dev/null; then
    compiler="ccache $compiler"
fi

dir=$(mktemp -d "${TMPDIR:-/var/tmp}/weir-variant-XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' INT TERM
cd "$sources"
run() {
    "$@" >"$dir/log" 2>&1 || { tail -n 60 "$dir/log"; exit 1; }
}
run env CC="$compiler" CCACHE_BASEDIR="$sources" meson setup --werror "$@" \
    "$dir/build"
run ninja -C "$dir/build"
# shellcheck disable=SC2086 # a list of words, or nothing
run meson test -C "$dir/build" --no-rebuild --print-errorlogs \
    --suite unit --suite cli ${WEIR_TEST_JOBS:+--num-processes $WEIR_TEST_JOBS}
sed -n '/^Ok:/,/^Timeout:/p' "$dir/log"
