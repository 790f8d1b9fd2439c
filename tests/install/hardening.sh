#!/bin/sh
# hardening.sh - every installed program, library and module is built against
# what damaged memory is used for: PIE, full RELRO, stack protector, FORTIFY,
# control-flow protection, and no memory that can be written and run.
# SPDX-License-Identifier: Apache-2.0
#
# usage: hardening.sh BUILD CC [fortify]
set -eu

build=$1
cc=$2
fortify=${3:-}
for tool in readelf objdump; do
    command -v $tool >/dev/null || { echo "no $tool" >&2; exit 77; }
done
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT
DESTDIR=$dir/root meson install -C "$build" --no-rebuild --quiet

# What the compiler and the C library it links with can do.
printf 'int main(void) { return 0; }\n' >"$dir/one.c"
branches=
property=
for flag in -fcf-protection=full -mbranch-protection=standard; do
    # shellcheck disable=SC2086 # a list of words
    $cc $flag -o "$dir/one" "$dir/one.c" 2>/dev/null || continue
    branches='endbr64|bti|paciasp'
    property=$(readelf -nW "$dir/one" | grep -oE 'IBT, SHSTK|BTI, PAC' || true)
done

failed=
wants() { # wants WHAT COMMAND...: with the file's name at the end
    what=$1
    shift
    "$@" || { echo "${file#"$dir/root"}: $what" >&2; failed=1; }
}
has() { grep -qE "$1" "$dir/$2"; }
lacks() { ! grep -E "$1" "$dir/$2"; }

count=0
find "$dir/root" -type f | sort >"$dir/files"
while read -r file; do
    readelf -hW "$file" >"$dir/head" 2>/dev/null || continue
    case $file in *.a) continue ;; esac
    count=$((count + 1))
    readelf -lW "$file" >"$dir/segments"
    readelf -dW "$file" >"$dir/dynamic"
    readelf -W --dyn-syms "$file" >"$dir/symbols"
    readelf -nW "$file" >"$dir/notes" 2>/dev/null
    wants "not position-independent" has 'Type: *DYN' head
    if has INTERP segments; then
        wants "not PIE" has 'FLAGS_1.*PIE' dynamic
    fi
    wants "no RELRO" has GNU_RELRO segments
    wants "bound lazily" has 'BIND_NOW|FLAGS_1.*NOW' dynamic
    wants "its stack can be run" has 'GNU_STACK .* RW ' segments
    wants "memory that can be written and run" lacks ' RWE ' segments
    wants "code is relocated" lacks TEXTREL dynamic
    wants "searches folders" lacks 'RPATH|RUNPATH' dynamic
    if [ -n "$branches" ]; then
        objdump -d --no-show-raw-insn "$file" >"$dir/code"
        wants "branches are not protected" has "$branches" code
        [ -z "$property" ] || wants "no $property" has "$property" notes
    fi
    # The preloaded library defines what FORTIFY's headers would, and must not
    # end the program that is traced.
    case $file in */libweir-trace.so) continue ;; esac
    wants "no stack protector" has __stack_chk_fail symbols
    [ -z "$fortify" ] || wants "no FORTIFY" has '__[a-z]+_chk@' symbols
done <"$dir/files"
[ "$count" -ge 4 ] || { echo "$count files only" >&2; exit 1; }
[ -z "$failed" ]
