# Three ways to the list of commands, on stdout.
weir --help >a
weir -h >b
weir help >c
cmp a b
cmp a c
grep -q '^  cache  *drop, warm' a
grep -q '^Data sets:' a
if grep __ a; then exit 1; fi
