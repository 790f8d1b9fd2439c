# Checkpoints are saved while it trains; steps count on in a second run. A
# description may only save and restore.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
save() {
    kit workflow.checkpoint=True checkpoint.steps_between_checkpoints=10 \
        model.model_size_bytes=100000 --ckpt fast --slow slow --json "$@"
}
save >out.json
python3 -c 'import json
r = json.load(open("out.json"))
print([(s["step"], s["bytes"]) for s in r["saves"]])
assert all(s["slow_s"] > 0 for s in r["saves"])'
save -g 2 >out.json
of saves.0.step <out.json
weir ckpt verify fast slow | grep -c damaged || :
weir run llama_7b --scale 0.00001 --ckpt llm --monitor 0 \
    checkpoint.num_checkpoints_write=2 checkpoint.num_checkpoints_read=1 \
    checkpoint.time_between_checkpoints=0 --json >out.json
python3 -c 'import json
r = json.load(open("out.json"))
print(len(r["saves"]), len(r["restores"]), r["restores"][0]["step"])'
