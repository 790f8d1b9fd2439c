# From a record of weir bench on an emulated device; options win over it.
weir gen imagenet data -n 128 --quiet >out
weir bench emu:ssd:data -r 2 --batch 16 --threads 2 --no-limits \
    --accelerator ms=50 --quiet -o b.json >out
weir plan b.json --prefetch 3 --no-what-if --target 0
weir plan b.json --json --record p.json >p2.json
weir report p.json >shown
grep -q "ms=50" shown
grep -q '"command": "plan"' p2.json
