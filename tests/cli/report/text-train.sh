# A run of training as text: what it costs, then the charts.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make train >run.json
weir report run.json
