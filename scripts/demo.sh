#!/bin/sh
# demo.sh - the main job, shown: make a data set, feed from it, say what limits,
# save a model, train one.
# SPDX-License-Identifier: Apache-2.0
set -eu

build=${1:-build}
weir=$build/weir
data=${WEIR_DEMO_DATA:-demo-data}
samples=${WEIR_DEMO_SAMPLES:-1024}
cores=$(nproc)
# WEIR_DEMO_SMOKE=1: hardly any data, to see that each part works (make test).
if [ -n "${WEIR_DEMO_SMOKE:-}" ]; then
    samples=16
    state=small
    probe="--passes 1 --seconds 0.02 --file-size 8MiB --files 16"
    read_batch=4
    plan="--batch 4"
    train="--samples 24 --classes 3"
    train_iterations=2
else
    state=alexnet
    probe=
    read_batch=16
    plan=
    train="--samples 640 --classes 10"
    train_iterations=72
fi

say() {
    printf '\n== %s\n\n' "$*"
}

# Threads to sweep: 1, 2, 4, ... up to twice the cores, 16 at most.
sweep() {
    n=1
    list=1
    while [ $((n * 2)) -le $((cores * 2)) ] && [ $((n * 2)) -le 16 ]; do
        n=$((n * 2))
        list=$list,$n
    done
    echo "$list"
}

if [ ! -d "$data/photos" ]; then
    say "1. A data set like ImageNet: $samples pictures, about 112 KB each"
    mkdir -p "$data"
    "$weir" gen imagenet "$data/photos" --samples "$samples"
else
    say "1. The data set is there already: $data/photos"
fi
"$weir" inspect "$data/photos"

say "2. Reading alone: how fast does this disk deliver the files?"
"$weir" bench "$data/photos" --stages read --page-cache cold,warm \
    --threads "1,$cores" --repeat 4 --record "$data/read.json"

say "3. The whole pipeline: read, decode, resize, normalize, batch"
"$weir" bench "$data/photos" --page-cache cold,warm --threads "$(sweep)" \
    --repeat 3 --record "$data/feed.json"

say "4. Decoding in fast mode, by $cores threads"
"$weir" bench "$data/photos" --decode exact,fast --repeat 4 \
    --record "$data/fast.json"

say "5. Prefetch off and on, with an accelerator of 60 ms a batch"
"$weir" bench "$data/photos" --accelerator ms=60 --prefetch 0,1 --repeat 3 \
    --no-limits --record "$data/prefetch.json"

say "6. What this storage can do, apart from pictures"
# shellcheck disable=SC2086 # a list of words
"$weir" probe "$data" --quick $probe --record "$data/probe.json"

say "7. The same pictures on the devices of the TensorFlow I/O paper, emulated"
for device in hdd ssd optane lustre; do
    batches=48
    [ "$device" != hdd ] || batches=8
    "$weir" bench "emu:$device:$data/photos" --stages read --batch "$read_batch" \
        --batches "$batches" --threads 1,2,4,8 --depth 1 --repeat 3 --no-limits \
        --record "$data/on-$device.json"
done

say "8. Saving a model of 244 MB: how long does training stand still?"
"$weir" ckpt bench "$data" --state "$state" --moments 0 --saves 2 --warmups 1 \
    --record "$data/ckpt.json"

say "9. Training a real network on the CPU: does it learn, and what does the input cost?"
# shellcheck disable=SC2086 # a list of words
[ -d "$data/things" ] || "$weir" gen caltech101 "$data/things" $train
"$weir" train "$data/things" --batch 32 --iterations "$train_iterations" \
    --record "$data/train.json"

say "10. The same data on a hard disk, with an accelerator of 100 ms: what would change?"
# shellcheck disable=SC2086 # a list of words
"$weir" plan "$data/feed.json" --storage hdd --accelerator ms=100 --life 4 \
    $plan --record "$data/plan.json"

say "11. All of it on one page"
if "$weir" report "$data"/*.json --html "$data/report.html"; then
    echo "$data/report.html: open it in a browser"
fi

cat <<TEXT

The records are in $data/*.json. Try it on your own pictures:

  $weir bench DIRECTORY-OF-CLASS-FOLDERS
  $weir probe DIRECTORY
  $weir ckpt bench FAST-FOLDER SLOW-FOLDER
  $weir train DIRECTORY-OF-CLASS-FOLDERS
  $weir trace -- YOUR-PROGRAM       what its I/O costs, and what to change
  $weir plan --help                 what if?
  $weir study --quick               the TensorFlow I/O paper's figures, 5 minutes
  $weir bench --help
TEXT
