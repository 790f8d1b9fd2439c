# On a terminal a line shows how far training is.
command -v script >/dev/null || { echo "no script(1)" >&2; exit 77; }
weir gen caltech101 set --samples 20 --classes 2 --quiet >/dev/null
timeout -s KILL 60 script -qec \
    "weir train set --accelerator ms=300 -b 4 -i 5 --monitor 0" /dev/null \
    </dev/null >out 2>&1
grep -o 'iteration 4 of 5, [0-9]* images/s, waiting [0-9]* %' out |
    sed 's/[0-9]* images/N images/; s/[0-9]* %/N %/' | head -n 1
grep -o '80%  ETA 0:0' out | head -n 1
