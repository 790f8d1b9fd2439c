#!/bin/sh
# run.sh - weir and its peers at the same work, side by side.
# SPDX-License-Identifier: Apache-2.0
#
# usage: run.sh [options] [BUILD]      options as of ../run.sh
set -eu

exec "$(dirname "$0")/../run.sh" --only peers "$@"
