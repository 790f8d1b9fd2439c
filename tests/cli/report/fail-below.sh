# A rate that fell by more than noise is exit code 3.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make bench >a.json
make bench --seed 2 --scale 0.8 >b.json
weir report --fail-below 0.7 a.json b.json >/dev/null
weir report --fail-below 0.95 a.json b.json >/dev/null
