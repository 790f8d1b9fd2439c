#!/bin/sh
# part.sh - the part of the long tests that `make test` runs for this commit.
# SPDX-License-Identifier: Apache-2.0
#
# usage: part.sh                    prints the part, a number
#        part.sh COUNT PARTS TEST   runs TEST NUMBER FIRST for its share of the
#                                   seeds 1 ... COUNT
#
# The number is WEIR_TEST_PART if that is set, else it follows the commit (0
# outside git). A test that is split into N parts runs this number modulo N, so
# that commits take turns; tests/part.h is the same for C. TEST runs them all if
# WEIR_TEST_PART is not set, as in `make check-full`.
set -eu

commit_part() {
    hash=$(git -C "$(dirname "$0")" rev-parse --short=6 HEAD 2>/dev/null) || hash=0
    echo $((0x$(printf %.6s "$hash")))
}

if [ $# -eq 0 ]; then
    echo "${WEIR_TEST_PART:-$(commit_part)}"
    exit
fi
count=$1
parts=$2
test=$3
[ -n "${WEIR_TEST_PART:-}" ] || exec "$test" "$count" 1
share=$((count / parts))
first=$((WEIR_TEST_PART % parts * share + 1))
echo "part $((WEIR_TEST_PART % parts + 1)) of $parts: $share from $first on"
exec "$test" "$share" "$first"
