weir gen caltech101 set --samples 20 --classes 4 --quiet >/dev/null
weir bench set -r 2 --no-limits --min-rate 1e12 >/dev/null
