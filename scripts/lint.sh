#!/bin/sh
# lint.sh - runs every lint, and the test that each lint can fail.
# SPDX-License-Identifier: Apache-2.0
#
# usage: lint.sh BUILD-DIRECTORY [--counts FILE]
#
# A lint is called with the root and the build directory. It prints a line
# "file:line: what" for each problem and a summary last; it exits 0 when
# clean, 1 when not, 77 when it cannot run here.
set -eu

cd "$(dirname "$0")/.."
build=$1
counts=/dev/null
[ "${2:-}" != --counts ] || counts=$3

passed=0
failed=0
skipped=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT
echo "0 1 0" >"$counts"

for lint in layers.py tags.py lengths.py heads.py text.py globals.py symbols.py \
    howto.py manual.py headers.sh format.sh shell.sh selftest.sh; do
    status=0
    case $lint in
    *.py) /usr/bin/python3 -B "scripts/lint/$lint" . "$build" ;;
    *) "scripts/lint/$lint" . "$build" ;;
    esac >"$out" 2>&1 || status=$?
    case $status in
    0) word=ok passed=$((passed + 1)) ;;
    77) word=skip skipped=$((skipped + 1)) ;;
    *) word=FAIL failed=$((failed + 1)) ;;
    esac
    [ "$word" != FAIL ] || sed '$d' "$out"
    printf 'lint %-8s %-4s %s\n' "${lint%.*}" "$word" "$(tail -n 1 "$out")"
done

echo "$passed $failed $skipped" >"$counts"
[ "$failed" -eq 0 ]
