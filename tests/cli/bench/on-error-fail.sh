weir gen caltech101 set --samples 20 --classes 4 --quiet >/dev/null
set -- set/*/*.jpg
: >"$1"
weir bench set -r 2 --no-limits --on-error fail
