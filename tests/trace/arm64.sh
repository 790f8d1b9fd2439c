#!/bin/sh
# arm64.sh - the preloaded library compiles and links for arm64.
# SPDX-License-Identifier: Apache-2.0
#
# usage: arm64.sh SOURCE_ROOT; skipped without a cross compiler.
set -eu

root=$1
cc=aarch64-linux-gnu-gcc
command -v "$cc" >/dev/null || { echo "no $cc"; exit 77; }
printf '#include <stdio.h>\nint main(void) { return puts(""); }\n' |
    "$cc" -x c -o /dev/null - 2>/dev/null || { echo "no libc for arm64"; exit 77; }

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
flags='-std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 -fPIC -fvisibility=hidden
       -fno-builtin -ftls-model=initial-exec -fno-stack-protector -Wno-nonnull-compare
       -Wno-missing-attributes -Wno-unused-parameter'
# shellcheck disable=SC2086
"$cc" $flags -I"$root/src" -I"$root/include" -shared -o "$out/libweir-trace.so" \
    -Wl,--version-script="$root/src/trace/preload/trace.map" "$root"/src/trace/preload/*.c
# What the collector has of its own for that machine: numbers of calls, registers.
for name in kernel kernel_calls path_program perf; do
    # shellcheck disable=SC2086
    "$cc" $flags -I"$root/src" -I"$root/include" -c -o "$out/$name.o" \
        "$root/src/trace/collect/$name.c"
done
# shellcheck disable=SC2086
"$cc" $flags -o "$out/rawcalls" "$root/tests/trace/rawcalls.c"
