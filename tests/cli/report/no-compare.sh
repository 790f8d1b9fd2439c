# Two records side by side without a comparison.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make bench >a.json
make bench --seed 2 >b.json
weir report --no-compare a.json b.json | grep -c Comparison || true
make probe >p.json
weir report a.json p.json | grep "^Comparison\|^Benchmark\|^Storage"
