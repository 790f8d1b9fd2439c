#!/bin/sh
# arm64.sh - everything compiles for arm64 without emulation; what it computes
# there is the same (golden digests, unit tests of text and pixels, by qemu-user).
# SPDX-License-Identifier: Apache-2.0
#
# usage: arm64.sh SOURCE
#
# In a new minimal Debian 12 (needs root, debootstrap and the network; 2 GB in
# TMPDIR). MIRROR names another Debian mirror.
set -eu

source=$1
skip() {
    echo "$*" >&2
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v debootstrap >/dev/null || skip "no debootstrap"
if [ -z "${WEIR_TEST_INSIDE:-}" ]; then
    place=$(mktemp -d "${TMPDIR:-/var/tmp}/weir-test-XXXXXX")
    trap 'rm -rf --one-file-system "$place"' EXIT
    chmod 755 "$place"
    WEIR_TEST_INSIDE=$place unshare --mount --propagation private "$0" "$@"
    exit
fi
place=$WEIR_TEST_INSIDE

# The group's packages: libraries of arm64, tools of this machine.
packages() {
    awk -v groups="$1" '$1 ~ "^(" groups ")$" { sub(/\|.*/, "", $2)
        print $2 ~ /^lib.*-dev$/ ? $2 ":arm64" : $2 }' "$source/scripts/packages.txt"
}
within() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/nonexistent \
        DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
        ${http_proxy:+"http_proxy=$http_proxy"} chroot "$place" "$@"
}
quietly() {
    "$@" >"$place/log" 2>&1 || { tail -n 30 "$place/log" >&2; return 1; }
}

quietly debootstrap --variant=minbase bookworm "$place" ${MIRROR:+"$MIRROR"} ||
    skip "debootstrap failed"
cp -L /etc/resolv.conf "$place/etc/resolv.conf"
mount --rbind /dev "$place/dev"
mount -t proc proc "$place/proc"
quietly within dpkg --add-architecture arm64
quietly within apt-get -q update || skip "apt-get update failed"
# shellcheck disable=SC2046 # a list of words
quietly within apt-get -q -y --no-install-recommends install \
    crossbuild-essential-arm64 python3 libcmocka-dev:arm64 qemu-user-static \
    $(packages build)
mkdir "$place/srv/weir"
(cd "$source" && git ls-files -co --exclude-standard -z |
    xargs -0 -r ls -d 2>/dev/null | tar -c -T -) | tar -x -C "$place/srv/weir"
cat >"$place/srv/arm64.ini" <<'END'
[binaries]
c = 'aarch64-linux-gnu-gcc'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
[properties]
needs_exe_wrapper = true
pkg_config_libdir = ['/usr/lib/aarch64-linux-gnu/pkgconfig', '/usr/share/pkgconfig']
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
quietly within meson setup --cross-file /srv/arm64.ini -Dwerror=true \
    -Dhdf5=enabled -Dpage=enabled -Dtests=enabled /srv/build /srv/weir
quietly within ninja -C /srv/build

# Rooms that compute, and what knows the machine. qemu-user starts no programs of
# arm64 and sets no limits of memory: tests that need these do not run by it.
cd "$place/srv/build/tests/unit"
bad=
for test in test-base-* test-codec-* test-format-* test-safetensors-* \
    test-pipeline-golden test-pipeline-cache-ram test-convert-golden-convert \
    test-doctor-doctor; do
    case $test in
    *.p | test-base-lack | test-format-hdf5 | test-format-chunk_write) continue ;;
    esac
    quietly within timeout 300 env WEIR_INDEX_DIR= WEIR_TEST_EMULATED=1 \
        qemu-aarch64-static "/srv/build/tests/unit/$test" || bad="$bad $test"
done
[ -z "$bad" ] || { echo "failed:$bad" >&2; exit 1; }
