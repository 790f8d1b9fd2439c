# The ten workloads of the analysis: each is generated and run, scaled, by one
# process and by four, and the record has the analysis's figures beside ours.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
one() {
    weir run "$1" "$1" --scale 0.0001 --epochs 1 --steps 2 --ckpt "$1-saved" \
        --no-selftest --monitor 0 train.computation_time=0.002 --json --quiet
}
check() {
    python3 - "$1" "$2" <<'PYTHON'
import json, sys
name, file = sys.argv[1:]
r = json.load(open(file))
synthetic = name == 'l2hmc'
assert r['result']['samples'] > 0, name
assert r['result']['au'] > 0, name
assert synthetic or r['reads']['count'] > 0, name
assert synthetic or r['reads']['usual_bytes'] > 0, name
assert not synthetic or r['saves'], name
assert synthetic or 0 <= r['reads']['sequential'] <= 1, name
print(name, r['config']['ranks'], 'seed' if r['seed'] else 'no figures')
PYTHON
}
for name in imagenet_resnet50 cosmic_tagger ffn climate cosmoflow_seed \
    candle_nt3 l2hmc bert_mrpc mmaadsp frnn; do
    [ $name = l2hmc ] || weir gen $name $name --scale 0.0001 -g 4 --quiet >/dev/null
    one $name >out.json
    check $name out.json
    ranks 4 weir run $name $name --scale 0.0001 --epochs 1 --steps 2 \
        --ckpt $name-four --no-selftest --monitor 0 --quiet \
        train.computation_time=0.002 --json >out.json
    check $name out.json
    rm -rf "$name" "$name"-*
done
