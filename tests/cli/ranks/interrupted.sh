# Ctrl-C, as a terminal sends it to all: one message, no record.
# shellcheck disable=SC1091
. "$(dirname "$0")/ranks.inc"
weir gen caltech101 set --samples 200 --classes 4 --quiet >/dev/null
start 4 weir bench set -r 1000 -o run.json
until_has out.0 '4 ranks'
sleep 0.5
kill -INT "$(cat pid.0)" "$(cat pid.1)" "$(cat pid.2)" "$(cat pid.3)"
finish
cat err.*
find . -name '*run.json*' -o -name '*part*'
