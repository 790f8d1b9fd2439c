# The help of every command that prints tables explains each column's head. The
# heads are read off real tables: two blanks or more lie between them.
# shellcheck disable=SC1091
. "$(dirname "$0")/../ckpt/make.inc"
weir gen caltech101 set --samples 12 --classes 3 --quiet >/dev/null
save_steps 1
mkdir place

# explained COMMAND... : stdin is a table's line of heads
explained() {
    weir "$@" --help | sed -n '/^Columns/,/^Examples/p' >text
    sed 's/^ *//; s/   */\n/g; s/  /\n/g' >heads
    test -s heads
    while read -r head; do
        grep -qF -- "  $head  " text || echo "weir $*: '$head' is not explained"
    done <heads
}

weir cache status set | head -n 1 | explained cache
weir cache drop set | head -n 1 | explained cache drop
weir ckpt ls fast slow | head -n 1 | explained ckpt ls
weir ckpt ls slow | head -n 1 | explained ckpt ls
weir ckpt show slow | sed -n 3p | explained ckpt show
weir ckpt bench place --state small --saves 1 --warmups 0 --verify |
    grep '^way' | explained ckpt bench
weir mount --list | head -n 1 | explained mount
weir inspect set --list-classes | grep 'label.*class' | explained inspect
weir bench set -r 2 -b 1,2 -d 1,2 -p 0,1 --decode exact,fast --size 8 --batches 1 |
    grep '^stages' | explained bench
weir train set --engine reference --size 67 --width 0.0625 -b 4 --epochs 2 \
    --holdout 0.25 --ckpt train-fast --slow train-slow >out
grep -E '^ *(iterations|iteration|saves) ' out >heads.all
test "$(wc -l <heads.all)" -eq 3
while read -r line; do
    echo "$line" | explained train
done <heads.all
weir probe place --quick --passes 1 --seconds 0.01 --file-size 4MiB --files 5 >out
grep -E '(  [+]-  |IOPS$)' out >heads.all
test "$(wc -l <heads.all)" -ge 6
while read -r line; do
    echo "$line" | explained probe
done <heads.all
