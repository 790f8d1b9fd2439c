# Commands that would write the same files n times refuse, with one message;
# those that only read leave it to rank 0.
# shellcheck disable=SC1091
. "$(dirname "$0")/ranks.inc"
weir gen caltech101 set --samples 8 --classes 2 --quiet >/dev/null
try() {
    start 2 weir "$@"
    printf "%s: " "$1"
    finish
    cat err.0
    cat out.1 err.1
}
try convert set to --to tar
try stage set tier
try probe .
try train set
try cache drop set
try ckpt prune store --keep 1
try mount emu:hdd:set at
try study all
ls -d to tier at store 2>/dev/null || :
try inspect set
grep -c images out.0
try bench --help
try bench --no-such-option set
try bench set --cache-what x
