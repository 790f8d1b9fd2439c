# A name that is not UTF-8 is in the record all the same.
weir gen caltech101 set --samples 12 --classes 2 --quiet >/dev/null
odd=$(printf 'set/class_0000/caf\351.jpg')
: >"$odd" || { echo "this file system wants UTF-8" >&2; exit 77; }
weir bench set -r 2 -b 4 --no-limits --json >out
grep -q '"bad_count": 1' out
grep -q 'caf\\\\xe9.jpg' out
