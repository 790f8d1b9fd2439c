#!/bin/sh
# refuse.sh - tests that read and write files, where io_uring is refused.
# SPDX-License-Identifier: Apache-2.0
#
# usage: refuse.sh BUILD REFUSE CALL=ERRNO
#
# REFUSE is the program of refuse.c. `make test` runs the tests that ask for an
# engine by name; without WEIR_TEST_PART those of all rooms that read or write
# run, and the commands.
set -eu

build=$1
refuse=$2
call=$3

"$refuse" "$call" true || exit
# shellcheck disable=SC2046 # a list of words
if [ -n "${WEIR_TEST_PART:-}" ]; then
    set -- file settings engine-stress doctor-limits bench/record ckpt/bench
else
    set -- $(meson test -C "$build" --list |
        sed -nE 's,.*:(unit\+(storage|pipeline|tier|safetensors|checkpoint|measure|doctor)|cli) / ,,p')
fi
meson test -C "$build" --no-rebuild --print-errorlogs --num-processes 2 \
    --logbase "refuse-$call" --wrapper "$refuse $call" "$@"
