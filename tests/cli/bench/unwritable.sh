# A file that cannot be written does not cost the result on stdout.
weir gen caltech101 set --samples 12 --classes 2 --quiet >/dev/null
code=0
weir bench set -r 2 -b 4 --no-limits --json -o /nonexistent/x.json >out 2>err ||
    code=$?
[ "$code" = 1 ]
grep -q '"samples": 12' out
grep -q "'/nonexistent/x.json': cannot" err
