weir gen caltech101 set -n 4 -c 2 -q >/dev/null
mkdir fast
: >"fast/weir-cache-$(id -u)"
weir stage set fast:50MiB
