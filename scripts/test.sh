#!/bin/sh
# test.sh - builds, runs every test and lint, and closes with the counts.
# SPDX-License-Identifier: Apache-2.0
#
# usage: test.sh BUILD-DIRECTORY
set -eu

cd "$(dirname "$0")/.."
build=$1
results=$build/meson-logs/testlog.json

# How many tests ended so ("OK", "FAIL|TIMEOUT|...").
count() {
    [ -f "$results" ] || { echo 0; return; }
    grep -cE "\"result\": \"($1)\"" "$results" || true
}

if ! scripts/build.sh "$build" -Dtests=enabled; then
    printf '\nthe build failed\n\n0 passed, 1 failed, 0 skipped\n'
    exit 1
fi
rm -f "$results"
status=0
meson test -C "$build" --no-rebuild --print-errorlogs || status=1
passed=$(count 'OK|EXPECTEDFAIL')
skipped=$(count 'SKIP')
failed=$(count 'FAIL|TIMEOUT|ERROR|INTERRUPT|UNEXPECTEDPASS')

echo
lint_counts=$(mktemp)
trap 'rm -f "$lint_counts"' EXIT
scripts/lint.sh "$build" --counts "$lint_counts" || status=1
read -r lint_passed lint_failed lint_skipped <"$lint_counts"
passed=$((passed + lint_passed))
failed=$((failed + lint_failed))
skipped=$((skipped + lint_skipped))

# A runner that broke must not look like a success.
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1

# Named once more at the very end: who sees only that knows which it was.
[ ! -f "$results" ] || scripts/failed.py "$results" || true

echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$status" -eq 0 ] && [ "$failed" -eq 0 ]
