# A rank that is killed is named by the others, which end soon; no record stays.
# shellcheck disable=SC1091
. "$(dirname "$0")/ranks.inc"
weir gen caltech101 set --samples 200 --classes 4 --quiet >/dev/null
for dead in 2 0; do
    start 4 weir bench set -r 1000 -o run.json
    until_has out.0 '4 ranks'
    sleep 0.3
    kill -KILL "$(cat pid.$dead)"
    before=$(date +%s)
    finish
    [ $(($(date +%s) - before)) -le 10 ] || echo "too late"
    cat err.* | grep -o 'rank [0-9] is gone' | sort -u
    find . -name '*run.json*' -o -name '*part*'
done
