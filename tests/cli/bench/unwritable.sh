# A file that cannot be written is told before anything is measured, and nothing
# is left behind; one that fails at the end does not cost the result on stdout.
weir gen caltech101 set --samples 12 --classes 2 --quiet >/dev/null
mkdir folder
for file in /nonexistent/x.json folder /proc/x.json; do
    for option in --record --csv; do
        code=0
        weir bench set -r 2 --no-limits $option "$file" >out 2>err || code=$?
        [ "$code" = 1 ]
        [ ! -s out ]
        grep -q "'$file': cannot" err
    done
done

# Twice the same file, and a file that is read.
for name in there new; do
    : >there
    code=0
    weir bench set --record $name --csv folder/../$name >out 2>err || code=$?
    [ "$code" = 2 ]
    grep -q 'are the same file' err
done
weir gen tensors t.npy --samples 4 --shape 8x8x3 --to npy -q >/dev/null
file=$(find t.npy -type f -name '*.npy' | head -n 1)
cp "$file" before
code=0
weir bench "$file" --record "$file" >out 2>err || code=$?
[ "$code" = 2 ]
grep -q 'would replace a file that is read' err
cmp "$file" before

# Checking made nothing, and neither does a run that is interrupted.
weir bench set -r 2 --accelerator ms=1000 --no-limits -b 1 -o kept.json \
    --csv kept.csv >/dev/null 2>&1 &
pid=$!
# A thread may end while they are listed.
until [ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 2>find.err | wc -l)" -gt 1 ]; do
    kill -0 "$pid"
done
kill -INT "$pid"
wait "$pid" || true
ls >now
if grep -q '^kept' now; then
    cat now >&2
    exit 1
fi

[ -c /dev/full ] || exit 77
code=0
weir bench set -r 2 -b 4 --no-limits --json -o /dev/full >out 2>err || code=$?
[ "$code" = 1 ]
grep -q '"samples": 12' out
grep -q "'/dev/full': cannot" err
