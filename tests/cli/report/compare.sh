# Two records: what differs, ratios, verdicts, what has no partner.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make bench >a.json
make bench --seed 2 --scale 0.8 --kernel "Linux 6.9" --threads 1,2,4 >b.json
weir report a.json b.json
