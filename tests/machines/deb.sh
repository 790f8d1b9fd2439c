#!/bin/sh
# deb.sh - the Debian packages: built, without errors of lintian, installed into a
# new minimal Debian, used there and removed again.
# SPDX-License-Identifier: Apache-2.0
#
# usage: deb.sh SOURCE
#
# Needs root, debootstrap and the network; MIRROR names another Debian mirror.
set -eu

source=$1
skip() {
    echo "$*" >&2
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip "needs root"
for tool in debootstrap dh dpkg-buildpackage lintian; do
    command -v $tool >/dev/null || skip "no $tool"
done
if [ -z "${WEIR_TEST_INSIDE:-}" ]; then
    place=$(mktemp -d "${TMPDIR:-/var/tmp}/weir-test-XXXXXX")
    trap 'rm -rf --one-file-system "$place"' EXIT
    chmod 755 "$place"
    WEIR_TEST_INSIDE=$place unshare --mount --propagation private "$0" "$@"
    exit
fi
place=$WEIR_TEST_INSIDE
suite=$(sed -n "s,^VERSION_CODENAME=,,p" /etc/os-release)
within() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/nonexistent \
        DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
        ${http_proxy:+"http_proxy=$http_proxy"} chroot "$place" "$@"
}
quietly() {
    "$@" >"$place/log" 2>&1 || { tail -n 30 "$place/log" >&2; return 1; }
}

quietly debootstrap --variant=minbase "$suite" "$place" ${MIRROR:+"$MIRROR"} ||
    skip "debootstrap failed"
"$source/scripts/deb.sh" "$place/srv/deb"
cp -L /etc/resolv.conf "$place/etc/resolv.conf"
cp "$source/examples/feed.c" "$source/tests/data/hdf5/tiles.h5" "$place/srv"
mount --rbind /dev "$place/dev"
mount -t proc proc "$place/proc"
quietly within apt-get -q update || skip "apt-get update failed"
quietly within sh -c 'apt-get -q -y --no-install-recommends install gcc libc6-dev \
    pkgconf /srv/deb/*.deb'
# shellcheck disable=SC2016 # expanded in there
within sh -euc 'cd /srv
    weir --version
    weir trace -o run.wtrace -- true 2>trace.log
    weir doctor /srv | grep "^ok *HDF5"
    cc feed.c -o feed $(pkg-config --cflags --libs weir)
    ./feed "tiles.h5#data=/x,label=/y" | grep -m 1 "batch 0"
    cc feed.c -o feed-static $(pkg-config --static --cflags weir) \
        -Wl,-Bstatic -lweir -Wl,-Bdynamic \
        $(pkg-config --static --libs weir | sed "s/-lweir//")
    ./feed-static "tiles.h5#data=/x,label=/y" | grep -m 1 "batch 0"
    dpkg -L weir | grep -q man1/weir-hdf5'
quietly within apt-get -q -y purge weir libweir0 libweir-dev
if within find / -xdev -path /srv -prune -o -name '*weir*' -print | grep .; then exit 1; fi
