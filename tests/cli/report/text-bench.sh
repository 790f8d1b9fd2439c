# A benchmark's record as text: what is shown, in order, and some of its lines.
# SPDX-License-Identifier: Apache-2.0
command -v python3 >/dev/null || {
    echo "no python3 to make records with" >&2
    exit 77
}
make() { python3 "$(dirname "$0")/../../data/records/make.py" "$@"; }
make bench >run.json
weir report run.json >out.txt
grep "^[A-Z]" out.txt | sed "s/[0-9][0-9,.]*/N/g"
echo
grep -o "^  Host  .*\|^  Storage  .*\|^  Data set  .*\|^  In all.*" out.txt
grep -o "threads 2: Prefetch 2 instead of none: " out.txt
grep -c "^  [12] prefetch [02] .* (.* to .*)$" out.txt
grep -c "^    4 marked, at " out.txt
grep -c "^  threads [12], prefetch [02] .*storage-bound" out.txt
grep -c "warm-up" out.txt
