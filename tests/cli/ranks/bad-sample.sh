# A bad sample of any rank is counted and named; with --on-error fail all end.
# shellcheck disable=SC1091
. "$(dirname "$0")/ranks.inc"
weir gen caltech101 set --samples 40 --classes 4 --quiet >/dev/null
f=$(find set -type f | LC_ALL=C sort | sed -n 18p)
truncate -s 200 "$f"
ranks 2 weir bench set -r 2 -b 4 --size 32 --no-limits --monitor 0 \
    --order sequential --record run.json >out
of run.json cases.0.bad_count
of run.json cases.0.bad.#
grep -c "${f##*/}" out
start 4 weir bench set -r 2 -b 4 --size 32 --no-limits --monitor 0 --on-error fail
finish
cat err.* | sed 's/.*: .*jpg.*/named/'
