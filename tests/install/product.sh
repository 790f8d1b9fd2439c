#!/bin/sh
# product.sh - `make build` builds what is installed, and nothing else.
# SPDX-License-Identifier: Apache-2.0
#
# usage: product.sh BUILD
set -eu

ninja=$(command -v ninja || command -v ninja-build) ||
    { echo "no ninja" >&2; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT
root=$(cd "$(dirname "$0")/../.." && pwd)
make -n -C "$root" build | grep -q NINJA_TARGETS=product
cd "$1"

# The commands that would be run in an empty folder.
"$ninja" -t commands product >"$dir/product"
"$ninja" -t commands all >"$dir/all"
for wanted in 'docs/weir\.1' docs/_weir docs/weir.fish man3.py ' -o weir ' \
    'libweir\.so' 'src/libweir\.a'; do
    grep -q -e "$wanted" "$dir/product" ||
        { echo "product: nothing makes $wanted" >&2; exit 1; }
done
sources=' -c [^ ]*/\(tests\|examples\|bench\)/[^ ]*\.c$'
grep -q -e "$sources" "$dir/all" # it does find them where they are
if grep -o -e "$sources" "$dir/product" >&2; then
    echo "product: these do not belong to it" >&2
    exit 1
fi
