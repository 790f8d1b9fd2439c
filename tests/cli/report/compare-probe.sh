# Two probes are compared test by test.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make probe >a.json
make probe --seed 3 --scale 1.3 --runs 5 >b.json
weir report a.json b.json
