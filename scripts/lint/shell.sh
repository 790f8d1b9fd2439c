#!/bin/sh
# shell.sh - shellcheck is content with the scripts.
# SPDX-License-Identifier: Apache-2.0
#
# usage: shell.sh ROOT
set -eu

cd "$1"
command -v shellcheck >/dev/null || { echo "no shellcheck"; exit 77; }

scripts() {
    find . \( -name .git -o -name 'build*' -type d -o -name demo-data \
        -o -path './tests/cli/*/*' \) -prune \
        -o \( -name '*.sh' -o -path ./.ci/run \) -print | sort
}
# The cases of tests/cli are run by its runner and name no shell.
cases() {
    find . -path './tests/cli/*/*.sh' | sort
}

status=0
scripts | xargs -r shellcheck -f gcc || status=1
cases | xargs -r shellcheck -s sh -f gcc || status=1
if [ $status -ne 0 ]; then
    echo "shellcheck complains"
    exit 1
fi
echo "$(scripts | wc -l) scripts, $(cases | wc -l) cases"
