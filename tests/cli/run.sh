#!/bin/sh
# run.sh - runs one command-line test and compares it with what lies beside.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: WEIR=path/to/weir run.sh area/name.sh     (README.md has the rules)
set -u

fail() {
    echo "FAIL: $*"
    failed=1
}

# match FILE PATTERNFILE: the whole text against one shell pattern, in which
# * also crosses lines.
match() {
    text=$(cat "$1")
    pattern=$(cat "$2")
    # shellcheck disable=SC2254
    case $text in
    $pattern) return 0 ;;
    esac
    return 1
}

show() {
    echo "--- $1 was:"
    cat "$2"
}

script=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
base=${script%.sh}
weir=$(cd "$(dirname "$WEIR")" && pwd)/$(basename "$WEIR")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/weir-cli-XXXXXX") || exit 99
trap 'chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT
trap 'exit 99' INT TERM
failed=0

mkdir "$scratch/bin" "$scratch/work"
ln -s "$weir" "$scratch/bin/weir"
export WEIR="$weir" PATH="$scratch/bin:$PATH" LC_ALL=C.UTF-8
if [ -n "${WEIR_TEST_LOCALE:-}" ]; then # tests/locale; tools sort as ever
    unset LC_ALL
    export LC_COLLATE=C LANG="$WEIR_TEST_LOCALE"
fi
unset NO_COLOR
(cd "$scratch/work" && exec sh -eu "$script") \
    >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
code=$?

if [ "$code" -eq 77 ]; then # the script says: cannot be tested here
    cat "$scratch/stderr"
    exit 77
fi
want=0
[ -f "$base.exit" ] && want=$(cat "$base.exit")
[ "$code" -eq "$want" ] || fail "exit code $code, expected $want"

if [ -f "$base.stdout" ] && [ "${WEIR_UPDATE:-}" = 1 ]; then
    cp "$scratch/stdout" "$base.stdout"
fi
if [ -f "$base.stdout" ]; then
    diff -u "$base.stdout" "$scratch/stdout" || fail "stdout differs"
elif [ -f "$base.stdout.glob" ]; then
    match "$scratch/stdout" "$base.stdout.glob" || fail "stdout does not match"
fi
if [ -f "$base.stderr.glob" ]; then
    match "$scratch/stderr" "$base.stderr.glob" || fail "stderr does not match"
elif [ "$want" -eq 0 ] && [ -s "$scratch/stderr" ]; then
    fail "stderr is not empty"
fi
if [ "$failed" -ne 0 ]; then
    show stdout "$scratch/stdout"
    show stderr "$scratch/stderr"
fi
exit "$failed"
