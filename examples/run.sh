#!/bin/sh
# run.sh - runs an example on a tiny data set and looks at what it prints.
# SPDX-License-Identifier: Apache-2.0
#
# usage: run.sh PROGRAM WANTED [ARGUMENT...]. WANTED is a line (a basic regular
# expression) that the program must print, given the data set and ARGUMENTs.
set -eu

program=$1
wanted=$2
shift 2
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT

# 30 tensors of 2x2x3 bytes: a .npy file has a short text in front.
head="{'descr': '|u1', 'fortran_order': False, 'shape': (30, 2, 2, 3), }"
{
    printf '\223NUMPY\001\000'
    # shellcheck disable=SC2059 # the length is a byte, written as an escape
    printf "\\$(printf %o "${#head}")\\000"
    printf '%s' "$head"
    i=0
    while [ $i -lt 30 ]; do
        printf '%012d' $i
        i=$((i + 1))
    done
} >"$dir/train.npy"

"$program" "$dir/train.npy" "$@" >"$dir/out"
cat "$dir/out"
grep -q "^$wanted\$" "$dir/out" || {
    echo "run.sh: no line '$wanted'" >&2
    exit 1
}
