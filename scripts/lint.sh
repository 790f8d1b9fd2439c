#!/bin/sh
# lint.sh - runs every lint, and the test that each lint can fail.
# SPDX-License-Identifier: Apache-2.0
#
# usage: lint.sh BUILD-DIRECTORY [LINT...]
#        lint.sh --list
#
# A lint is called with the root and the build directory. It prints a line
# "file:line: what" for each problem and a summary last; it exits 0 when
# clean, 1 when not, 77 when it cannot run here. So does this script: 77 if
# nothing could run.
set -eu

all='headers.sh format.sh shell.sh selftest.sh layers.py tags.py lengths.py
heads.py text.py units.py locales.py prints.py doors.py globals.py symbols.py howto.py manual.py
findings.py repeats.py'

if [ "$1" = --list ]; then
    echo "$all"
    exit
fi
cd "$(dirname "$0")/.."
build=$1
shift
# shellcheck disable=SC2086 # a list of words
[ $# -gt 0 ] || set -- $all

code=77
out=$(mktemp)
trap 'rm -f "$out"' EXIT

for lint in "$@"; do
    status=0
    case $lint in
    *.py) /usr/bin/python3 -B "scripts/lint/$lint" . "$build" ;;
    *) "scripts/lint/$lint" . "$build" ;;
    esac >"$out" 2>&1 || status=$?
    case $status in
    0) word=ok; [ $code -ne 77 ] || code=0 ;;
    77) word=skip ;;
    *) word=FAIL code=1 ;;
    esac
    [ "$word" != FAIL ] || sed '$d' "$out"
    printf 'lint %-8s %-4s %s\n' "${lint%.*}" "$word" "$(tail -n 1 "$out")"
done
exit $code
