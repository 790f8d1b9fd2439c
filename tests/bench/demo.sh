#!/bin/sh
# demo.sh - make demo, with hardly any data: every part works, and the page is
# there at the end.
# SPDX-License-Identifier: Apache-2.0
#
# usage: demo.sh SOURCE BUILD
set -eu

tmp=$(mktemp -d "$2/smoke-XXXXXX") # a disk: /tmp may be memory
trap 'rm -rf "$tmp"' EXIT

WEIR_DEMO_SMOKE=1 WEIR_DEMO_DATA=$tmp/data "$1/scripts/demo.sh" "$2" >"$tmp/said"
for record in read feed fast prefetch probe on-hdd on-lustre ckpt train plan; do
    [ -s "$tmp/data/$record.json" ] || {
        echo "demo.sh: no record '$record'" >&2
        cat "$tmp/said" >&2
        exit 1
    }
done
grep -q 'weir bench --help' "$tmp/said"
