# On a terminal of 60 columns no line is broken in the middle of a word: help of all
# commands and actions, lists, results with remarks and long names, messages.
command -v python3 >/dev/null || { echo "no python3" >&2; exit 77; }
bad=0
# narrow CODE ARGUMENT...
narrow() {
    want=$1
    shift
    code=0
    python3 "$(dirname "$0")/../narrow.py" weir "$@" >text || code=$?
    [ "$code" -eq "$want" ] || { echo "weir $*: exit $code" >&2; bad=1; }
}

narrow 0 --help
narrow 2
weir --help | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p' >commands
[ "$(wc -l <commands)" -ge 15 ]
: >actions
while read -r cmd; do
    narrow 0 "$cmd" --help
    weir "$cmd" --help |
        sed -n '/^  ACTION /,/^$/s/^        \([a-z][a-z]*\)  .*/'"$cmd"' \1/p' >>actions
    sed -n "s/^$cmd //p" actions >of-command
    while read -r action; do
        narrow 0 "$cmd" "$action" --help
    done <of-command
done <commands
[ "$(wc -l <actions)" -ge 15 ]
narrow 0 trace merge --help
narrow 0 mount --list
grep -q '^    a 7200 rpm disk' text # below its row
narrow 0 run --list
narrow 0 run unet3d_h100 --explain
narrow 0 probe . --dry-run
narrow 0 gen caltech101 set -n 20 -c 2

# A broken picture with a long name, one without a class, a remark.
dir=$(find set -mindepth 1 -type d | sort | head -n 1)
echo broken >"$dir/a picture with a long  name that is quite broken.jpg"
narrow 0 inspect set
grep -q "a long  name" text
narrow 3 inspect set --verify
narrow 0 cache drop set
narrow 0 convert set tarred --to tar
narrow 0 doctor .
printf 'path,label\nset/nothing of this name is there at all.jpg,0\n' >list.csv
narrow 1 inspect list.csv
narrow 1 inspect 'a folder of a long name that is not there at all'
narrow 1 mount --profile nothing-of-this-name a b
narrow 2 ckpt nothing-of-this-name
# Files and pipes have whole lines.
weir mount --list | grep -q '1  a 7200 rpm disk on SATA (Table I: HDD)$'
weir inspect 'a folder of a long name that is not there at all' 2>said || :
[ "$(wc -l <said)" -eq 1 ]
exit "$bad"
