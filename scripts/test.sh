#!/bin/sh
# test.sh - builds, runs the tests and lints, and closes with the counts.
# SPDX-License-Identifier: Apache-2.0
#
# usage: test.sh BUILD-DIRECTORY [--full]
#
# The longest tests run one part of what they can do: the commit says which
# (part.sh). --full runs all parts, and the tests of the suite 'full'.
set -eu

cd "$(dirname "$0")/.."
build=$1
if [ "${2:-}" = --full ]; then
    setup=full
    unset WEIR_TEST_PART
else
    setup=quick
    WEIR_TEST_PART=$(scripts/part.sh)
    export WEIR_TEST_PART
fi
results=$build/meson-logs/testlog-$setup.json

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
# Five for two cores: many tests wait rather than compute.
meson test -C "$build" --no-rebuild --print-errorlogs --setup "$setup" \
    --num-processes "${WEIR_TEST_JOBS:-$(($(nproc) * 5 / 2))}" || status=1
passed=$(count 'OK|EXPECTEDFAIL')
skipped=$(count 'SKIP')
failed=$(count 'FAIL|TIMEOUT|ERROR|INTERRUPT|UNEXPECTEDPASS')

# A runner that broke must not look like a success.
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1

# Named once more at the very end: who sees only that knows which it was.
[ ! -f "$results" ] || scripts/failed.py "$results" || true

echo
if [ "$setup" = quick ]; then
    echo "part $WEIR_TEST_PART of the long tests (WEIR_TEST_PART=$WEIR_TEST_PART" \
        "runs it again, make check-full runs all parts)"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$status" -eq 0 ] && [ "$failed" -eq 0 ]
