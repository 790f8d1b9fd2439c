#!/bin/sh
# smoke.sh - a benchmark script can measure what it says, with hardly any data.
# SPDX-License-Identifier: Apache-2.0
#
# usage: smoke.sh SCRIPT BUILD [OPTION...]     exit 77: nothing to measure with
set -eu

script=$1
build=$2
shift 2
tmp=$(mktemp -d "$build/smoke-XXXXXX") # a disk: /tmp may be memory
trap 'rm -rf "$tmp"' EXIT

status=0
"$script" "$build" --smoke --data "$tmp/data" --out "$tmp/out" "$@" || status=$?
[ "$status" -eq 0 ] || exit "$status"

# Everything was kept, and can be shown again, as text and as Markdown.
"$script" "$build" --smoke --last --out "$tmp/out" >"$tmp/text"
"$script" "$build" --smoke --last --out "$tmp/out" --markdown >"$tmp/markdown"
if ! [ -s "$tmp/text" ] || ! grep -q '^| [^-|]' "$tmp/markdown"; then
    echo "smoke.sh: no results were kept" >&2
    exit 1
fi
