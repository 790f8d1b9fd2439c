#!/bin/sh
# limits.sh - every format under few descriptors and little memory.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: limits.sh WEIR LIMITS     (limits.c says what is checked)
set -eu

weir=$(realpath "$1")
limits=$(realpath "$2")
samples=240
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-limits-XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' INT TERM
cd "$dir"

"$weir" gen -q caltech101 tree -n $samples -c 20 --list list.csv >gen.txt
"$weir" gen -q tensors wt -n $samples --shape 32x32x3 --samples-per-file 8 \
    >>gen.txt
"$weir" gen -q tensors npy -n $samples --shape 32x32x3 --samples-per-file 8 \
    --format npy >>gen.txt
for kind in tfrecord tar; do
    # Many shards: each is a descriptor, for the index and for the epoch.
    "$weir" convert -q tree $kind --to $kind --shard-size 60K >>gen.txt
    mkdir "$kind.gz"
    for shard in "$kind"/*."$kind"; do
        gzip -c "$shard" >"$kind.gz/$(basename "$shard").gz"
    done
done
"$limits" $samples tree list.csv wt npy tfrecord tfrecord.gz tar tar.gz
