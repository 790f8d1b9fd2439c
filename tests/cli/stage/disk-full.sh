# A folder that takes nothing more for another reason than its size is a
# failure, and the reason is told; what could be kept is there.
weir gen caltech101 set -n 60 -c 2 -q >/dev/null
mkdir fast
trap '' XFSZ
ulimit -f 400 # blocks of 512 bytes: 200 KiB
code=0
weir stage set fast:50MiB || code=$?
weir bench set --cache fast:50MiB -r 2 --no-limits --stages read --json -q |
    grep -q '"misses": 0' && exit 1
exit "$code"
