# A setting that differs in all cases is told once.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make bench --threads 1 --prefetch 0 >a.json
make bench --threads 4 --prefetch 0 --scale 1.5 >b.json
weir report a.json b.json
