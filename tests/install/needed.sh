#!/bin/sh
# needed.sh - oneDNN, OpenMP and OpenCL are loaded by training alone, MPI by ranks.
# SPDX-License-Identifier: Apache-2.0
#
# usage: needed.sh BUILD
set -eu

build=$1
heavy='dnnl|gomp|OpenCL|libmpi'
command -v objdump >/dev/null || { echo "no objdump" >&2; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# Neither asked for at the start, nor by something that is.
for file in "$build/weir" "$build"/src/libweir.so; do
    objdump -p "$file" | sed -n 's/^ *NEEDED *//p' >needed
    grep -q '^libc\.so' needed
    if grep -E "$heavy" needed; then exit 1; fi
done

# loads COMMAND...: the objects that the loader opened while it ran.
loads() {
    rm -f debug.*
    LD_DEBUG=files LD_DEBUG_OUTPUT=debug "$build/weir" "$@" >out 2>&1 ||
        { cat out >&2; exit 1; }
    cat debug.* >loaded
    grep -q 'libc\.so' loaded # it does see them
}
tiny='--size 67 --width 0.05 -b 2 -i 1 --holdout 0 -q'
"$build/weir" gen -q imagenet photos --samples 4 --classes 1
for command in --help --version 'bench photos -r 2 -q' 'inspect photos -q' \
    'ckpt --help' "train photos $tiny --accelerator ms=1" \
    "train photos $tiny --engine reference"; do
    # shellcheck disable=SC2086 # a list of words
    loads $command
    if grep -E "file=[^ ]*($heavy)" loaded; then
        echo "needed.sh: weir $command loads them" >&2
        exit 1
    fi
done

for module in "$build"/src/comm/weir-mpi-*.so; do
    [ -e "$module" ] || continue
    nm -D --defined-only "$module" | sed 's/@.*//' | awk '{ print $3 }' >shown
    [ "$(cat shown)" = wr_mpi ] || { cat shown >&2; exit 1; }
done

module=$build/src/train/weir-onednn.so
[ -e "$module" ] || exit 0
# shellcheck disable=SC2086 # a list of words
loads train photos $tiny --engine onednn
grep -qE 'file=[^ ]*libdnnl' loaded
# It shows its engine and nothing else.
nm -D --defined-only "$module" | awk '{ print $3 }' >shown
[ "$(cat shown)" = wr_engine_onednn ] || { cat shown >&2; exit 1; }
# A value that OpenMP does not understand is not its business to print.
OMP_NUM_THREADS=many "$build/weir" doctor >out 2>err
if grep -i gomp out err; then exit 1; fi
