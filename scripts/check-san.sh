#!/bin/sh
# check-san.sh - the tests under ASan+UBSan, and under TSan.
# SPDX-License-Identifier: Apache-2.0
#
# usage: check-san.sh [asan|tsan]...
set -eu

cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- asan tsan
failed=

for kind in "$@"; do
    case $kind in
    asan) sanitize=address,undefined ;;
    tsan) sanitize=thread ;;
    *) echo "check-san: no such sanitizer: $kind" >&2; exit 2 ;;
    esac
    scripts/build.sh "build-$kind" "-Db_sanitize=$sanitize" -Db_lundef=false \
        -Dbuildtype=debugoptimized -Dtests=enabled
    meson test -C "build-$kind" --no-rebuild --print-errorlogs \
        --setup full --no-suite lint \
        --timeout-multiplier 5 || failed="$failed $kind"
done

if [ -n "$failed" ]; then
    echo "check-san: failed under$failed"
    exit 1
fi
echo "check-san: clean under $*"
