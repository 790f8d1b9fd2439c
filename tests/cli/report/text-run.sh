# Runs of workloads as text: whether the accelerators were fed, and why not.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make run >run.json
make run-search >search.json
make run-slow >slow.json
make run --seed 3 --scale 1.1 >after.json
for record in run search slow; do
    echo "--- $record"
    weir report $record.json
done
echo "--- compared"
weir report run.json after.json | head -40
