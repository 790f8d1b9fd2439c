# Every training of DLIO and MLPerf Storage that is built in is generated and run,
# with small records and few steps.
names=$(weir run --list | awk '/^MLPerf/{ on = 1; next } /^[^ ]/{ on = 0 }
    on && NF { print $1 "/" $2 }')
for entry in $names; do
    name=${entry%/*}
    [ "${entry#*/}" != parquet ] || continue
    rm -rf data
    set -- dataset.record_length_bytes=3000 dataset.record_length_bytes_stdev=100
    [ "${name%_s3}" = "$name" ] || set -- dataset.record_length_bytes=3000
    weir gen "$name" data --scale 0.000001 -g 2 --quiet "$@" \
        model.parallelism.tensor=1 model.parallelism.pipeline=1 >/dev/null ||
        { echo "$name: gen"; continue; }
    weir run "$name" data --scale 0.000001 -g 2 --steps 2 --epochs 1 \
        --no-selftest --no-checkpoints --monitor 0 --quiet --json "$@" \
        train.computation_time=0.001 model.parallelism.tensor=1 \
        model.parallelism.pipeline=1 >out.json ||
        { echo "$name: run"; continue; }
    python3 -c 'import json
r = json.load(open("out.json"))
assert r["result"]["samples"] > 0 and r["reads"]["bytes"] > 0, r["config"]' ||
        echo "$name: nothing was read"
done
