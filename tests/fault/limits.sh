#!/bin/sh
# limits.sh - every format, small, for a program that checks what lacks.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: limits.sh WEIR PROGRAM SAMPLES [HDF5-FILE]
# Makes a data set of each format and runs PROGRAM SAMPLES URL... on them;
# limits.c and alloc.c say what they check. The HDF5 file has 12 samples, and
# chunks that are not there.
set -eu

weir=$(realpath "$1")
program=$(realpath "$2")
samples=$3
fill=${4:-}
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-limits-XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' INT TERM
cd "$dir"

"$weir" gen -q caltech101 tree -n "$samples" -c 20 --list list.csv >gen.txt
"$weir" gen -q tensors wt -n "$samples" --shape 32x32x3 --samples-per-file 8 \
    >>gen.txt
"$weir" gen -q tensors npy -n "$samples" --shape 32x32x3 --samples-per-file 8 \
    --format npy >>gen.txt
arrays=
for kind in npz csv jsonl ${fill:+hdf5}; do
    "$weir" convert -q npy "$kind" --to "$kind" --shard-size 60KiB >>gen.txt
    arrays="$arrays $kind"
done
"$weir" convert -q npy deflated --to npz --deflate --shard-size 60KiB >>gen.txt
for kind in tfrecord tar; do
    # Many shards: each is a descriptor, for the index and for the epoch.
    "$weir" convert -q tree $kind --to $kind --shard-size 60KiB >>gen.txt
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
# Several pictures and an array per sample.
mkdir fields
"$weir" gen -q tensors single -n "$samples" --shape 8x8x3 \
    --samples-per-file 1 --format npy >>gen.txt
rm single/*.labels.npy
set -- single/*.npy
for picture in tree/*/*.jpg; do
    name=parts/$(basename "$picture" .jpg)
    cp "$picture" "$name.mask.jpg"
    cp "$1" "$name.npy"
    shift
done
(cd parts && tar -cf ../fields/all.tar -- *)
# 256 bytes each, so that the lowest byte of offset and size is 0; a last sample
# that is shorter, so that they are bytes.
mkdir binary
for k in 0 1; do
    file=binary/img_${k}_of_2.indexed_binary
    head -c $((samples * 128)) /dev/zero >"$file"
    i=0
    while [ $i -lt $((samples / 2)) ]; do
        printf '\0%b\0\0\0\0\0\0' "\\0$(printf %o $i)" >>"$file.off.idx"
        printf '\0\1\0\0\0\0\0\0' >>"$file.sz.idx"
        i=$((i + 1))
    done
done
truncate -s -8 "$file.sz.idx"
printf '\1\0\0\0\0\0\0\0' >>"$file.sz.idx"
# shellcheck disable=SC2086 # a list of words
"$program" "$samples" tree list.csv wt npy tfrecord tfrecord.gz tar tar.gz \
    json fields binary deflated $arrays
[ -z "$fill" ] || "$program" 12 "$fill"
