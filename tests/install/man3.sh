#!/bin/sh
# man3.sh - each public function has a page, and the pages are roff without
# warnings.
# SPDX-License-Identifier: Apache-2.0
#
# usage: man3.sh BUILD
set -eu

library=$(ls "$1"/src/libweir.so)
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/man3"
cp "$1"/docs/*.3 "$dir/man3"
cd "$dir"

nm -D --defined-only "$library" | sed -n 's/.* T \(weir_[a-z_]*\).*/\1/p' >names
[ "$(wc -l <names)" -gt 40 ]
while read -r name; do
    page=man3/$name.3
    [ -s "$page" ] || { echo "no page for $name" >&2; exit 1; }
    link=$(sed -n 's/^\.so //p' "$page")
    # The line that whatis reads names the function and says what it does.
    sed -n '/^\.SH NAME/{n;p;}' "${link:-$page}" |
        grep -qE "(^|, )$name(,.*)? .- [^ ]" ||
        { echo "$name: not in the NAME of ${link:-$page}" >&2; exit 1; }
    grep -q "^\.BR weir.* (3)" "${link:-$page}"
done <names
grep -q '^\.B #include <weir/pipeline.h>' man3/weir_pipeline_next.3
grep -q 'WEIR_STAGES_READ' man3/weir_config.3

command -v groff >/dev/null || { echo "no groff" >&2; exit 77; }
groff -man -ww -z man3/*.3 2>warnings
if [ -s warnings ]; then cat warnings >&2; exit 1; fi
