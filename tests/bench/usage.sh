#!/bin/sh
# usage.sh - the command lines of the benchmark scripts.
# SPDX-License-Identifier: Apache-2.0
#
# usage: usage.sh SOURCE BUILD
set -u

bench=$1/bench
peers=$1/scripts/peers.sh
build=$2
tmp=$(mktemp -d "$build/smoke-XXXXXX") # a disk: /tmp may be memory
trap 'rm -rf "$tmp"' EXIT
failed=0

# expect STATUS TEXT COMMAND...: COMMAND says TEXT ('': anything) among others.
expect() {
    want=$1
    text=$2
    shift 2
    status=0
    "$@" >"$tmp/said" 2>&1 </dev/null || status=$?
    echo "$status" >>"$tmp/said" # so that it is not empty
    if [ "$status" -ne "$want" ] || ! grep -qe "$text" "$tmp/said"; then
        echo "FAILED: $* exited with $status, not $want, or lacks '$text':"
        cat "$tmp/said"
        failed=1
    fi
}

for script in "$bench/run.sh" "$bench/peers/run.sh"; do
    expect 0 '--smoke' "$script" --help
    expect 2 "'nothing' is none of" "$script" --only nothing
    expect 2 'not allowed with' "$script" --quick --smoke
    expect 1 'no results in' "$script" "$build" --last --out "$tmp/none"
    expect 1 'run make build' "$script" "$tmp/none" --out "$tmp/out"
done
expect 0 '^tensors$' "$bench/run.sh" --rows

# A list, and the option again.
expect 2 "'nothing' is none of" "$bench/run.sh" --only jpeg,nothing
expect 2 "'nothing' is none of" "$bench/peers/run.sh" --only dali,nothing
expect 0 'raw u8 tensors' "$bench/run.sh" "$build" --smoke --out "$tmp/list" \
    --only tensors,even --only even
expect 0 'evenness' "$bench/run.sh" "$build" --smoke --out "$tmp/list" --last

# A peer that is there is not installed again; no network is asked.
mkdir -p "$tmp/peers/venv-dali"
: >"$tmp/peers/venv-dali/complete"
expect 0 '' "$peers" "$tmp/peers" dali
# What is installed is named by version and hash, all of it.
for list in "$1"/scripts/peers/*.txt; do
    case $list in */build.txt) continue ;; esac
    expect 1 '' grep -nvE '^[a-z0-9-]+==[0-9a-z.]+( --hash=sha256:[0-9a-f]{64})+$' \
        "$list"
done
expect 1 '' grep -nE '^ +pip +[^<]' "$peers"
expect 2 'no such peer' "$peers" "$tmp/peers" nothing
expect 2 'usage' "$peers"

# Peers that are not installed here are at least Python.
for file in "$bench"/peers/*.py; do
    expect 0 '' /usr/bin/env python3 -c \
        'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' \
        "$file"
done

"$build/weir" gen -q imagenet "$tmp/photos" --samples 4 --classes 1 >/dev/null
expect 0 'decode only' "$build/bench/bench-codec" "$tmp"/photos/* 1 32
expect 2 'usage' "$build/bench/bench-open"
[ "$failed" -eq 0 ]
