# A threshold that no run can be held to is told before the first one.
weir gen caltech101 set --samples 12 --classes 2 --quiet >/dev/null
code=0
weir bench set --stages all,read -b 2 --min-of-decode 0.5 >out 2>err || code=$?
[ "$code" = 2 ]
[ ! -s out ]
grep -q 'min-of-decode: with --stages read nothing' err
