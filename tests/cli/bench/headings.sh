# Headings say what is emulated and which setting differs; `auto` says why it
# changed nothing; one run has no spread.
weir gen caltech101 set --samples 24 --classes 2 --quiet >/dev/null
weir bench emu:optane:set -r 2 -b 4 --no-limits -t auto -o emu.json >text
grep -q '; emulated optane (below it ' text
grep -q '^emulated optane, page-cache below it warm, ' text
grep -q '^all, emulated optane, [0-9]* thread' text
grep -q '^  - nothing was changed: ' text
grep -q '^all  *auto  *[0-9,]*  *-  ' text
if grep -q 'warm cache' text; then
    exit 1
fi
weir report emu.json >shown
grep -q '^The whole pipeline, emulated optane$' shown
weir bench fault:delay=1:emu:hdd:set -r 2 -b 4 --no-limits --batches 2 >text
grep -q '^all, emulated hdd, ' text

weir bench set -r 3 -b 4,8 -d 2,4 -p 0 --no-limits -t 1 >text
grep -q '^all, warm cache, 1 thread, depth 4, batch 8$' text
if grep -q 'thread.*prefetch 0$' text; then
    exit 1
fi
grep -q '^all  *warm  *1  *2  *4  *[0-9,]*  *[0-9]*%' text
weir bench set -r 3 -b 8 -p 0,1 --decode exact,fast --no-limits -t 1 >text
grep -q '^all, warm cache, 1 thread, decode fast, prefetch 1$' text
