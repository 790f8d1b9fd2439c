# On a terminal nothing is left of the progress line, whether the process that
# measures prints results or why there are none.
command -v script >/dev/null || { echo "no script(1)" >&2; exit 77; }
printf 'like = null\nwrite_bandwidth = 60 MB/s\nchannels = 1\n' >slow.profile
mkdir d
bench() {
    code=0
    timeout -s KILL 300 script -qec "${1:-} weir ckpt bench d --state small \
        --warmups 0 --saves 2 --ways slow --monitor 0 \
        --slow-device ./slow.profile" /dev/null </dev/null >out 2>&1 || code=$?
    echo "exit $code"
    grep -q 'preparing\|direct to slow *[0-9]*%' out
    # What is on the screen in the end: after a CR a line begins again.
    sed 's/\r*$//; s/.*\r//' out >screen
    ! grep 'ETA\|preparing\|% *$' screen
}
bench
grep -o 'direct to slow' screen
bench 'trap "" XFSZ; ulimit -f 100;' # KiB of a file
grep -o 'weir ckpt: step 1 was not saved' screen
