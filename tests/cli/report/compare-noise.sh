# The same thing measured twice is noise, also with few runs.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make bench >a.json
make bench --seed 8 >b.json
make bench --seed 6 --runs 2 >c.json
make bench --seed 7 --runs 1 >d.json
weir report a.json b.json | grep "^Of"
weir report a.json c.json | grep "^Of"
weir report a.json d.json | grep -c "samples/s *[01].*too few runs"
