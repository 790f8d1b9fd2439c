#!/bin/sh
# run.sh - weir and its peers at the same work, side by side.
# SPDX-License-Identifier: Apache-2.0
#
# usage: run.sh [options] [BUILD]      see run.sh --help
set -eu

here=$(cd "$(dirname "$0")" && pwd)
for python in /usr/bin/python3 python3; do
    if command -v "$python" >/dev/null; then
        exec "$python" -B "$here/compare.py" "$@"
    fi
done
echo "run.sh: there is no python3" >&2
exit 1
