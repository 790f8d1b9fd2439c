#!/bin/sh
# format.sh - the layout of the sources is clang-format's (version 14).
# SPDX-License-Identifier: Apache-2.0
#
# usage: format.sh [--fix] ROOT
set -eu

fix=
if [ "$1" = --fix ]; then
    fix=yes
    shift
fi
cd "$1"

tool=$(command -v clang-format-14 || command -v clang-format || true)
[ -n "$tool" ] || { echo "no clang-format"; exit 77; }
case $($tool --version) in
*'version 14.'*) ;;
*) echo "another clang-format than 14, which lays out differently"; exit 77 ;;
esac

list() {
    find include src tests examples bench -name '*.[ch]' 2>/dev/null | sort
}
if [ -n "$fix" ]; then
    list | xargs "$tool" -i
    exit
fi
report() {
    list | xargs "$tool" --dry-run -Werror 2>&1 |
        sed -n 's/^\([^:]*:[0-9]*\):.*error:.*/\1: not as clang-format has it/p' |
        sort -t: -u -k1,1
}
problems=$(report)
if [ -z "$problems" ]; then
    echo "$(list | wc -l) files"
    exit 0
fi
echo "$problems"
echo "$(echo "$problems" | wc -l) files; make format sets them right"
exit 1
