# Ranks share the data set, and what they did together is one result: every sample
# once in each run, one output, one record.
# shellcheck disable=SC1091
. "$(dirname "$0")/ranks.inc"
weir gen caltech101 set --samples 203 --classes 4 --quiet >/dev/null
for n in 2 4; do
    ranks $n weir bench set -r 3 -b 8 -t 1 --size 32 --monitor 0 --csv b.csv \
        --record run.json >out
    grep -c "^$n ranks on 1 host" out
    grep -c '^stages ' out
    of run.json cases.0.settings.world
    of run.json cases.0.runs.0.samples
    of run.json cases.0.runs.2.samples
    of run.json cases.0.ranks.#
    of run.json cases.0.ranks.*.samples
    python3 - <<'PY'
import json
case = json.load(open("run.json"))["cases"][0]
ranks, runs = case["ranks"], case["runs"]
slowest = max(r["seconds"] for r in ranks)
middle = [r for r in runs[1:] if abs(r["seconds"] - slowest) < 1e-9]
assert middle, (slowest, runs)
rate = middle[0]["samples"] / slowest
assert abs(middle[0]["samples_per_s"] - rate) < 1e-6 * rate
assert case["result"]["of_decode_limit"] > 0 and case["result"]["of_read_limit"] > 0
PY
    head -n 1 b.csv
    weir report run.json | grep -c "$n ranks"
    rm run.json b.csv
done
