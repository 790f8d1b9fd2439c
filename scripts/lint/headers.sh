#!/bin/sh
# headers.sh - every header compiles alone; the public ones as C++ too.
# SPDX-License-Identifier: Apache-2.0
#
# usage: headers.sh ROOT
set -eu

cd "$1"
flags=$(pkg-config --cflags liburing libjpeg spng jansson libxxhash \
    2>/dev/null || true)
flags="$flags -Wall -Wextra -Werror -Iinclude -Isrc -D_GNU_SOURCE -fsyntax-only"
# One part alone uses libhdf5, and may be left out.
hdf5=$(pkg-config --cflags hdf5 2>/dev/null || echo none)
[ "$hdf5" = none ] || flags="$flags $hdf5"
count=0
status=0

# check LANGUAGE HEADER COMPILER...: the header is all that a file includes.
check() {
    language=$1
    header=$2
    shift 2
    count=$((count + 1))
    # shellcheck disable=SC2086 # a list of words
    echo "#include \"$header\"" | "$@" $flags - || {
        echo "$header:1: does not compile alone as $language"
        status=1
    }
}

for header in $(find include src -name '*.h' | sed 's,^[a-z]*/,,' | sort); do
    case $hdf5,$header in none,hdf5/*) continue ;; esac
    check C "$header" gcc -x c -std=gnu17
done
if command -v g++ >/dev/null; then
    for header in $(find include -name '*.h' | sed 's,^[a-z]*/,,' | sort); do
        check C++ "$header" g++ -x c++ -std=c++11 -Wpedantic
    done
fi
echo "$count compilations"
exit $status
