# A store that fails on command: what it hits is named and counted.
weir gen caltech101 set --samples 40 --classes 4 --quiet >/dev/null
weir bench 'fault:eio@%10:set' -r 2 -b 8 --no-limits >out
grep -q 'bad samples skipped' out
grep -q 'cannot read .* Input/output error' out
weir bench 'fault:enoent@~class_0001:set' -r 2 -b 8 --no-limits >out
grep -q '10 bad samples skipped' out
grep -q 'cannot open: No such file' out
