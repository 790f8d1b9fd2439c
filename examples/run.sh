#!/bin/sh
# run.sh - runs an example on a tiny data set and looks at what it prints.
# SPDX-License-Identifier: Apache-2.0
#
# usage: run.sh PROGRAM [WANTED [ARGUMENT...]]
#
# Runs an example on a data set of 30 tiny tensors, which is made for it and
# removed again, and prints what it prints. ARGUMENTs follow the data set's path
# on its command line. With WANTED it fails when no line of the output is that
# one (a basic regular expression): so do the tests.
set -eu

here=$(dirname "$0")

# The text above, and the examples with the first lines of their sources.
explain() {
    sed -n '/^# usage/,/^set/s/^# \{0,1\}//p' "$0"
    printf '\nThe examples; "make examples" builds build/examples/example-NAME:\n'
    for source in "$here"/*.c; do
        what=$(sed -n '1s|^[^-]*- \(.*\)\.$|\1|p' "$source")
        printf '  %-10s  %s\n' "$(basename "$source" .c)" "$what"
    done
    printf '\nFor instance:\n  %s build/examples/example-feed\n' "$0"
}

case ${1:-} in
'') explain >&2; exit 2 ;;
-h | --help) explain; exit 0 ;;
esac
program=$1
wanted=${2:-}
if [ ! -x "$program" ]; then
    echo "run.sh: no program '$program': 'make examples' builds them" >&2
    exit 1
fi
shift
[ $# -eq 0 ] || shift
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT

# A .npy file has a short text in front: type, shape.
npy_head() {
    head="{'descr': '$1', 'fortran_order': False, 'shape': ($2), }"
    printf '\223NUMPY\001\000'
    # shellcheck disable=SC2059 # the length is a byte, written as an escape
    printf "\\$(printf %o "${#head}")\\000"
    printf '%s' "$head"
}

# What is in front, and $3 written with a number 30 times.
npy() {
    npy_head "$1" "$2"
    i=0
    while [ $i -lt 30 ]; do
        # shellcheck disable=SC2059 # it is a format
        printf "$3" $i
        i=$((i + 1))
    done
}

# 30 tensors of 2x2x3 bytes; a label for each where fields are the subject.
npy '|u1' '30, 2, 2, 3' '%012d' >"$dir/train.npy"
case $program in
*fields) npy '<u4' '30,' '\001\000\000\000%.0s' >"$dir/train.labels.npy" ;;
esac

"$program" "$dir/train.npy" "$@" >"$dir/out"
cat "$dir/out"
[ -z "$wanted" ] || grep -q "^$wanted\$" "$dir/out" || {
    echo "run.sh: no line '$wanted'" >&2
    exit 1
}
