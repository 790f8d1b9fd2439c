# A signal while the record still comes: exit 143, and no page nor part of one.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make bench >run.json
mkfifo pipe
mkdir place
weir report - --html place/page.html --output place/text <pipe >out 2>err &
pid=$!
exec 3>pipe
# Bit 14 of the caught signals: SIGTERM has its handler.
until grep -q '^SigCgt:.*[4-7c-f]...$' "/proc/$pid/status"; do :; done
kill -TERM "$pid"
cat run.json >&3 || true # it may be gone already
exec 3>&-
code=0
wait "$pid" || code=$?
echo "$code"
ls -A place
cat out
