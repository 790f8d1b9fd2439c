# The record says what was asked and what came out; the CSV has every batch.
weir gen caltech101 set --samples 40 --classes 4 --quiet >/dev/null
weir bench set -r 3 -b 16 -o run.json --csv batches.csv --no-limits >/dev/null
grep -q '"schema": "weir-record"' run.json
grep -q '"samples": 40' run.json
[ "$(grep -c '"seconds"' run.json)" = 3 ]
[ "$(wc -l <batches.csv)" = 10 ] # a heading, 3 rounds of 3 batches
head -1 batches.csv | grep -q '^case,stages,page_cache,threads'
weir bench set -r 2 -b 16 --no-limits --json >printed.json
grep -q '"command": "bench"' printed.json
