#!/bin/sh
# less.sh - commands on less than a whole machine.
# SPDX-License-Identifier: Apache-2.0
#
# usage: less.sh no-proc|processes|no-names WEIR
#
# no-proc: what needs /proc for a remark only works without it. processes: where no
# more threads may be started, a command works or names the limit. no-names: where
# no name can be resolved, ranks still meet at localhost.
set -eu

case=$1
weir=$2

skip() {
    echo "$*" >&2
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip "needs root"
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
"$weir" gen caltech101 "$dir/data" -n 40 -q

# The commands, by name: each writes below $1.
commands() {
    cat <<TEXT
gen caltech101 $1/made -n 10 -q
inspect $dir/data
bench $dir/data --epochs 1 -q
convert $dir/data $1/out --to tfrecord -q
ckpt bench $1 --state small --saves 1 --warmups 0 --moments 0 --ways fast
cache status $dir/data
probe $1 --only sync --file-size 1MiB --passes 1 --seconds 0.01
doctor $dir
TEXT
}

no_proc() {
    mkdir "$dir/out"
    unshare --mount --propagation private true || skip "no mount namespaces here"
    # The leak checker of a sanitizer asks /proc.
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
    export ASAN_OPTIONS
    commands "$dir/out" | while read -r line; do
        # shellcheck disable=SC2086 # words
        unshare --mount --propagation private sh -euc '
            mount -t tmpfs none /proc
            exec timeout 100 "$@"' sh "$weir" $line >"$dir/said" 2>&1 || {
            echo "weir $line: exit $?"
            cat "$dir/said"
            exit 1
        }
    done
}

processes() {
    command -v setpriv >/dev/null || skip "no setpriv (package util-linux)"
    for most in 1 4; do
        mkdir "$dir/$most"
        chown 65531 "$dir/$most"
        commands "$dir/$most" | while read -r line; do
            status=0
            # shellcheck disable=SC2086 # words
            timeout 100 setpriv --reuid=65531 --clear-groups \
                prlimit --nproc=$most "$weir" $line >"$dir/said" 2>&1 || status=$?
            [ $status -eq 0 ] || { [ $status -eq 1 ] && [ "${line%% *}" = doctor ]; } ||
                grep -q 'ulimit -u' "$dir/said" || {
                echo "weir $line, $most processes: exit $status"
                cat "$dir/said"
                exit 1
            }
        done
    done
}

no_names() {
    unshare --mount --propagation private true || skip "no mount namespaces here"
    : >"$dir/hosts"
    echo 'hosts: files' >"$dir/nsswitch.conf"
    # shellcheck disable=SC2016 # expanded in there
    unshare --mount --propagation private sh -euc '
        mount --bind "$1/hosts" /etc/hosts
        mount --bind "$1/nsswitch.conf" /etc/nsswitch.conf
        exec timeout 200 "$2"' sh "$dir" "${weir%/*}/tests/unit/test-comm-meet-tcp"
}

case $case in
no-names) no_names ;;
no-proc) no_proc ;;
processes) processes ;;
esac
