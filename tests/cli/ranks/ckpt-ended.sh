# Killed or interrupted in the middle of a save that takes ages: the others end,
# and nothing is left.
# shellcheck disable=SC1091
. "$(dirname "$0")/ranks.inc"
mkdir d
printf 'like = null\nwrite_bandwidth = 100 KB/s\nchannels = 1\n' >ages.profile
for how in 1 0 all; do
    start 2 weir ckpt bench d --slow-device ./ages.profile --state small \
        --ways slow --monitor 0
    for _ in $(seq 200); do
        [ -z "$(find d -name '*.safetensors')" ] || break
        sleep 0.1
    done
    sleep 0.3
    before=$(date +%s)
    if [ $how = all ]; then
        kill -INT "$(cat pid.0)" "$(cat pid.1)"
    else
        kill -KILL "$(cat pid.$how)"
    fi
    finish
    [ $(($(date +%s) - before)) -le 10 ] || echo "too late"
    cat err.* | grep -o 'rank [0-9] is gone\|interrupted.*' | sort -u
    ls -A d
done
