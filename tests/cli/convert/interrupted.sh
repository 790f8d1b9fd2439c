# Ctrl-C: what is complete is kept, nothing half-written is, and the same
# command continues after it.
weir gen caltech101 in -n 400 -c 4 -q > /dev/null
weir convert in whole --to tensor --shard-size 2MiB -t 1 > /dev/null
code=0
weir convert in t --to tensor --shard-size 2MiB -t 1 > /dev/null 2> said &
pid=$!
while ! ls .t.part/*.wt > /dev/null 2>&1; do
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.01
done
kill -TERM "$pid" 2> /dev/null || true
wait "$pid" || code=$?
if [ ! -e t ]; then # else it was faster than the signal
    test "$code" -eq 143
    grep -q 'interrupted' said
    grep -q 'parts are complete and kept: the same command continues' said
    test -z "$(find .t.part -name '.*.tmp')"
    weir convert in t --to tensor --shard-size 2MiB -t 1 |
        grep -q 'an earlier run had made'
fi
diff -r whole t
