# Killed at odd moments and run again: the same bytes as without.
# in a shell of its own: exec, so that the kill meets weir itself
gen() {
    exec weir gen caltech101 "$1" -n 400 -c 4 --drawn 20 --threads 1 -q
}
(gen whole) > /dev/null
for ms in 10 20 30 50 80 120; do
    gen d > /dev/null 2>&1 &
    pid=$!
    sleep "0.$(printf %03d "$ms")"
    kill -KILL "$pid" 2> /dev/null || true
    code=0
    { wait "$pid" || code=$?; } 2> /dev/null
    test "$code" -eq 137 || test "$code" -eq 0
    if [ -e d ]; then # it was faster
        diff -r whole d
        rm -r d
    fi
done
if [ -e .d.part/.weir-gen ]; then
    weir gen caltech101 d -n 401 2> said && exit 9
    grep -q "'.d.part': holds the beginning of another data set" said
fi
(gen d) > /dev/null
diff -r whole d
test ! -e .d.part
