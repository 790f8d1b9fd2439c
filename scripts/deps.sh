#!/bin/sh
# deps.sh - installs what is missing from Debian's packages.
# SPDX-License-Identifier: Apache-2.0
#
# usage: deps.sh GROUP...      groups: build unit test full fuzz bench peers
#
# Does nothing, quickly, when all is there. Elsewhere than on Debian and its
# children it only says what is missing. WEIR_DEPS=skip turns it off.
set -eu

list=$(dirname "$0")/packages.txt

say() { echo "deps: $*" >&2; }

# The wanted lines of packages.txt: "package probe".
wanted() {
    awk -v groups=" $* " '
        /^#/ || NF == 0 { next }
        index(groups, " " $1 " ") { print $2, $3 }' "$list"
}

# The packages (a|b kept together) of which none is installed.
missing_on_debian() {
    dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 2>/dev/null |
        want=$1 awk '
            /^[hi]i/ { have[$NF] = 1 }
            END {
                n = split(ENVIRON["want"], line, "\n")
                for (i = 1; i <= n; i++) {
                    split(line[i], field, " ")
                    m = split(field[1], alt, "|")
                    found = 0
                    for (j = 1; j <= m; j++)
                        found = found || (alt[j] in have)
                    if (!found)
                        print field[1]
                }
            }'
}

probe() {
    case $1 in
    cmd:*) command -v "${1#cmd:}" ;;
    pkg:*) pkg-config --exists "${1#pkg:}" ;;
    py:*) /usr/bin/python3 -c "import ${1#py:}" ;;
    esac >/dev/null 2>&1
}

# Elsewhere: the probes that fail.
missing_elsewhere() {
    echo "$1" | while read -r package probe; do
        probe "$probe" || echo "${probe#*:} (Debian: ${package%%|*})"
    done | sort -u
}

first_available() {
    for p in $(echo "$1" | tr '|' ' '); do
        if apt-cache show "$p" >/dev/null 2>&1; then
            echo "$p"
            return
        fi
    done
    echo "${1%%|*}"
}

install_missing() {
    root=
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            say "missing: $*"
            say "run this as root or install sudo, or as root:"
            say "  apt-get install $(echo "$*" | sed 's/|[^ ]*//g')"
            exit 1
        fi
        root=sudo
    fi
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    say "reading the package lists"
    run apt-get update -q || say "apt-get update failed; trying with what is known"
    packages=
    for p in "$@"; do
        packages="$packages $(first_available "$p")"
    done
    say "installing$packages"
    # shellcheck disable=SC2086 # a list of words
    if ! run apt-get install -q -y --no-install-recommends \
        -o DPkg::Lock::Timeout=120 $packages; then
        tail -n 30 "$log" >&2
        say "apt-get could not install them"
        exit 1
    fi
}

# Quietly, but a password prompt of sudo is still seen (it uses the terminal).
run() {
    $root env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@" \
        >>"$log" 2>&1 </dev/null
}

[ $# -gt 0 ] || { say "usage: deps.sh GROUP..."; exit 2; }
[ "${WEIR_DEPS:-}" != skip ] || exit 0

want=$(wanted "$@")
[ -n "$want" ] || { say "no such group: $*"; exit 2; }

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    missing=$(missing_on_debian "$want")
    # shellcheck disable=SC2086 # a list of words
    [ -z "$missing" ] || install_missing $missing
else
    missing=$(missing_elsewhere "$want")
    if [ -n "$missing" ]; then
        say "this is not Debian; please install:"
        echo "$missing" | sed 's/^/  /' >&2
        say "(WEIR_DEPS=skip turns this check off)"
        exit 1
    fi
fi
