#!/bin/sh
# locale.sh - the unit tests and those of the command line in another locale.
# SPDX-License-Identifier: Apache-2.0
#
# usage: locale.sh BUILD SETTER LOCALE TURN
#
# `make test` runs what reads and writes text, in one of the locales (the part
# says which); without WEIR_TEST_PART everything runs. The tests of the
# library's rooms run with SETTER preloaded: as in a program that calls
# setlocale(LC_ALL, "").
set -eu

build=$1
setter=$2
locale=$3
turn=$4

skip() {
    echo "$*" >&2
    exit 77
}
[ -z "${WEIR_TEST_PART:-}" ] || [ $((WEIR_TEST_PART % 3)) -eq "$turn" ] ||
    skip "another locale's turn (WEIR_TEST_PART)"
command -v localedef >/dev/null || skip "no localedef (package libc-bin)"
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT
# Warnings make it end with 1, too.
localedef -i "${locale%.*}" -f UTF-8 "$dir/$locale" >"$dir/said" 2>&1 || true
[ -f "$dir/$locale/LC_NUMERIC" ] ||
    skip "localedef does not make $locale (package locales): $(tail -n 1 "$dir/said")"
export LOCPATH="$dir" WEIR_TEST_LOCALE="$locale"
[ "$(LC_ALL=$locale locale decimal_point)" != . ] # it can fail

# tests NAME WRAPPER OPTION...: those that the options choose
tests() {
    name=$1
    wrapper=$2
    shift 2
    meson test -C "$build" --no-rebuild --print-errorlogs --num-processes 2 \
        --logbase "locale-${locale%.*}-$name" ${wrapper:+--wrapper "$wrapper"} "$@"
}
# unit ROOMS [-v]: the names of the unit tests of these rooms, or of the others
unit() {
    meson test -C "$build" --list | grep ':unit+' |
        grep -E ${2:+"$2"} ":unit\\+($1) " | sed 's|.* / ||'
}
inside="env LC_ALL=$locale LD_PRELOAD=$setter"
text='base|format|safetensors|tier'
library="$text|storage|codec|pipeline|comm|checkpoint"
status=0
# shellcheck disable=SC2046 # lists of words
if [ -n "${WEIR_TEST_PART:-}" ]; then
    tests library "$inside" --suite unit settings $(unit "$text") || status=1
    tests cli '' --suite cli $(meson test -C "$build" --list |
        sed -n 's|.* / \(inspect/\)|\1|p' |
        awk -v part="$((WEIR_TEST_PART / 3))" 'NR % 3 == part % 3') || status=1
else
    tests library "$inside" --suite unit $(unit "$library") || status=1
    tests command "$inside WEIR_TEST_COMMAND=1" --suite unit \
        $(unit "$library" -v) || status=1
    tests cli '' --suite cli || status=1
fi
exit $status
