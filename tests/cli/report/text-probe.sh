# A probe's record as text: what is shown, in order, and some of its lines.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make probe >run.json
weir report run.json >out.txt
grep "^[A-Z]" out.txt | sed "s/[0-9][0-9,.]*/N/g"
echo
grep -o "! Something below the kernel caches: the first pass was slower" out.txt
grep -o "^    1 marked, at 8" out.txt
grep -c "no O_DIRECT here" out.txt
grep -c "random read .*4 KiB .*direct " out.txt
