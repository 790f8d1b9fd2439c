#!/bin/sh
# limits.sh - every format, small, for a program that checks what lacks.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: limits.sh WEIR PROGRAM SAMPLES
# Makes a data set of each format and runs PROGRAM SAMPLES URL... on them;
# limits.c and alloc.c say what they check.
set -eu

weir=$(realpath "$1")
program=$(realpath "$2")
samples=$3
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-limits-XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' INT TERM
cd "$dir"

"$weir" gen -q caltech101 tree -n "$samples" -c 20 --list list.csv >gen.txt
"$weir" gen -q tensors wt -n "$samples" --shape 32x32x3 --samples-per-file 8 \
    >>gen.txt
"$weir" gen -q tensors npy -n "$samples" --shape 32x32x3 --samples-per-file 8 \
    --format npy >>gen.txt
for kind in tfrecord tar; do
    # Many shards: each is a descriptor, for the index and for the epoch.
    "$weir" convert -q tree $kind --to $kind --shard-size 60K >>gen.txt
    mkdir "$kind.gz"
    for shard in "$kind"/*."$kind"; do
        gzip -c "$shard" >"$kind.gz/$(basename "$shard").gz"
    done
done
# Labels as JSON, which a library parses.
mkdir parts json
for picture in tree/*/*.jpg; do
    name=parts/$(basename "$picture" .jpg)
    cp "$picture" "$name.jpg"
    echo '{"label": 3, "caption": "a shape"}' >"$name.json"
done
(cd parts && tar -cf ../json/all.tar -- *)
"$program" "$samples" tree list.csv wt npy tfrecord tfrecord.gz tar tar.gz \
    json
