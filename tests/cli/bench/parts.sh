# The training part and the held-out part: together all samples, each with a
# digest of its own; without parts everything is as it was.
weir gen caltech101 set --samples 60 --classes 4 --quiet >/dev/null
bench() {
    weir bench set -r 2 -b 16 --no-limits --digest --size 32 --json "$@" >"$name.json"
    grep '"digest"' "$name.json" | sort -u
}
counted() { grep -m 1 -o "\"samples\": $1,\$" "$name.json"; }
split='--holdout 0.1 --split-seed 7'
name=all
bench >all.sum
counted 60
name=train
# shellcheck disable=SC2086
bench $split --part train >train.sum
grep -q '"part": "train"' train.json
grep -q '"split_seed": 7' train.json
[ "$(grep -c '"samples": 54,' train.json)" = 2 ] # both rounds
name=held
# shellcheck disable=SC2086
bench $split --part held-out >held.sum
[ "$(grep -c '"samples": 6,' held.json)" = 2 ]
name=whole
# shellcheck disable=SC2086
bench $split --part all >whole.sum
cmp all.sum whole.sum
[ "$(cat all.sum train.sum held.sum | sort -u | wc -l)" = 3 ]
# The same part in another order of reading is the same part.
name=again
# shellcheck disable=SC2086
bench $split --part held-out -t 1 -d 1 -p 0 >again.sum
cmp held.sum again.sum
# shellcheck disable=SC2086
weir bench set -r 2 --no-limits $split --part held-out |
    grep -q '^part held-out: 6 samples (holdout 0.1)$'
