# Who says which share it takes is no rank of a launcher: it runs alone.
# shellcheck disable=SC1091
. "$(dirname "$0")/ranks.inc"
weir gen caltech101 set --samples 40 --classes 4 --quiet >/dev/null
start 2 weir bench set -r 2 -b 8 --size 32 --no-limits --monitor 0 --rank 1 --world 4 --json
finish
of out.0 cases.0.runs.1.samples
of out.1 cases.0.runs.1.samples
cat err.*
