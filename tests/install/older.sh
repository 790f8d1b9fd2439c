#!/bin/sh
# older.sh - a program built with headers whose structs are shorter keeps
# working with this library.
# SPDX-License-Identifier: Apache-2.0
#
# usage: older.sh BUILD SOURCE CC SANITIZER
set -eu

build=$1
source=$2
cc=$3
sanitizer=$4
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT
cp -r "$source/include" "$dir/include"

# Structs lose their last two members, as if those had not been thought of yet.
python3 - "$dir"/include/weir/*.h <<'END'
import re, sys
GROWING = (r'weir_pipeline_config|weir_dataset_config|weir_stats|weir_ckpt_config|'
           r'weir_ckpt_state|weir_ckpt_times|weir_ckpt_stats|weir_ckpt_entry|'
           r'weir_ckpt_prune_plan')
STRUCT = re.compile(r'typedef struct (%s) \{(.*?)\n\} \1;' % GROWING, re.S)
def cut(m):
    members = re.sub(r'/\*.*?\*/', '', m[2], flags=re.S).split(';')[:-1]
    return 'typedef struct %s {%s;\n} %s;' % (m[1], ';'.join(members[:-2]), m[1])
count = 0
for path in sys.argv[1:]:
    text, n = STRUCT.subn(cut, open(path, encoding='utf-8').read())
    count += n
    open(path, 'w', encoding='utf-8').write(text)
sys.exit(count != 9)
END

# make NAME INCLUDES: the program, with these headers and this library
make() {
    # shellcheck disable=SC2086 # a list of words
    $cc -o "$dir/$1" "$source/tests/install/older.c" -I "$2" \
        ${sanitizer:+"-fsanitize=$sanitizer"} -L "$build/src" -lweir \
        -Wl,-rpath,"$build/src"
    "$source/examples/run.sh" "$dir/$1" '' 8 "$dir/$1.store" >"$dir/$1.out"
}
make today "$source/include"
make older "$dir/include"
grep sizes "$dir"/*.out
[ "$(grep sizes "$dir/today.out")" != "$(grep sizes "$dir/older.out")" ]
grep -q '^samples 30 ' "$dir/older.out"
grep -q '^steps 123 pruned 2 value 2 timed$' "$dir/older.out"
[ "$(grep -v sizes "$dir/today.out")" = "$(grep -v sizes "$dir/older.out")" ]
