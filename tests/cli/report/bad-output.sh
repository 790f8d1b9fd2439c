# A file that cannot be written: the reason, and nothing left.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make bench --no-monitor >a.json
for way in "--output" "--html"; do
    code=0
    weir report a.json "$way" no/out || code=$?
    mkdir -p dir
    weir report a.json "$way" dir || code=$code$?
    echo "$code"
done
ls
