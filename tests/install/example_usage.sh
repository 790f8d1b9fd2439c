#!/bin/sh
# example_usage.sh - examples/run.sh explains itself, and runs without a wish.
# SPDX-License-Identifier: Apache-2.0
#
# usage: example_usage.sh RUN
set -eu

run=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT

code=0
"$run" >"$dir/out" 2>"$dir/err" || code=$?
[ "$code" -eq 2 ] && [ ! -s "$dir/out" ]
grep -q '^usage: run.sh PROGRAM' "$dir/err"
"$run" --help >"$dir/help"
cmp "$dir/err" "$dir/help"
for source in "$(dirname "$run")"/*.c; do
    grep -q "^  $(basename "$source" .c)  *[a-z]" "$dir/help"
done

code=0
"$run" "$dir/none" 2>"$dir/err" || code=$?
[ "$code" -eq 1 ]
grep -q "no program '$dir/none'" "$dir/err"

# Without a line that is wanted, any output will do.
"$run" /usr/bin/wc | grep -q train.npy
