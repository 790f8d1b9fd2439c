# Fields that are missing or of another type are passed over.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make bench | sed "s/\"samples_per_s\": [0-9.]*/\"samples_per_s\": null/
s/\"times\": {/\"times\": 3, \"old\": {/" >a.json
weir report a.json >a.txt
grep -c "^Cases" a.txt
head='"schema": "weir-record", "version": 1, "time": "now"'
echo "{$head, \"command\": \"future\", \"answer\": 42}" | weir report -
