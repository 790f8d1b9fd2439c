#!/bin/sh
# fuzz.sh - fuzzes each parser for some seconds, two at a time.
# SPDX-License-Identifier: Apache-2.0
#
# usage: fuzz.sh [SECONDS [NAME...]]
#
# An input that breaks a parser is saved in tests/fuzz/corpus/NAME/, where
# `make test` replays it from then on, and makes this fail.
set -eu

cd "$(dirname "$0")/.."
dir=build-fuzz
seconds=${1:-60}
[ $# -eq 0 ] || shift

if [ $# -eq 0 ]; then
    for source in tests/fuzz/fuzz_*.c; do
        name=${source##*/fuzz_}
        [ ! -f "$source" ] || set -- "$@" "${name%.c}"
    done
fi
[ $# -gt 0 ] || { echo "fuzz: no targets"; exit 0; }

targets=
for name in "$@"; do
    targets="$targets tests/fuzz/fuzz-$name"
done
export CC=clang NINJA_TARGETS="$targets"
scripts/build.sh $dir -Dfuzz=true -Db_sanitize=address,undefined \
    -Db_lundef=false -Dtests=disabled

# One target: new inputs stay in the build directory, crashers are kept.
fuzz_one() {
    name=$1
    found=$dir/found/$name
    corpus=tests/fuzz/corpus/$name
    log=$dir/fuzz-$name.log
    mkdir -p "$found" "$corpus" "$dir/broken/$name"
    status=0
    $dir/tests/fuzz/fuzz-"$name" -max_total_time="$seconds" -timeout=20 \
        -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$dir/broken/$name/" "$found" "$corpus" \
        >"$log" 2>&1 || status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ $status -eq 0 ]; then
        echo "fuzz $name: nothing found in ${runs:-?} runs"
        return 0
    fi
    tail -n 40 "$log"
    for artifact in "$dir/broken/$name"/*; do
        [ -f "$artifact" ] || continue
        cp "$artifact" "$corpus/"
        echo "fuzz $name: BROKEN by $corpus/${artifact##*/}"
        rm -f "$artifact"
    done
    echo "$name" >>$dir/broken/names
}

export ASAN_OPTIONS=allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
mkdir -p $dir/broken
rm -f $dir/broken/names
while [ $# -gt 0 ]; do
    fuzz_one "$1" &
    if [ $# -gt 1 ]; then
        fuzz_one "$2" &
        shift
    fi
    shift
    wait
done
[ ! -f $dir/broken/names ] || { echo "fuzz: failed"; exit 1; }
echo "fuzz: nothing found"
