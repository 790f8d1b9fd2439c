# Each bad file is named with its reason; the run goes on without it.
weir gen caltech101 set --samples 40 --classes 4 --quiet >/dev/null
set -- set/*/*.jpg
: >"$1"
head -c 300 "$2" >short && cp short "$2"
echo "no picture" >"$3"
weir bench set -r 2 -b 8 --no-limits >out
grep -q '3 bad samples skipped' out
grep -q "'${1#set/}': empty" out
grep -q "'${2#set/}': " out
grep -q "'${3#set/}': " out
weir bench set -r 2 -b 8 --no-limits --json | grep -q '"samples": 37'
