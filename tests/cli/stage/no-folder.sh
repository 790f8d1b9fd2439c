weir gen caltech101 set -n 4 -c 2 -q >/dev/null
weir stage set nowhere:1GiB
