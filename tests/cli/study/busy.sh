# Two studies in one folder: the second is refused, the first is not disturbed.
weir study s --images 64 -r 3 --only fig5 -t 1 --quiet >/dev/null &
pid=$!
until [ -d s/data ]; do
    kill -0 "$pid"
    sleep 0.02
done
code=0
weir study s --images 64 -r 3 --only fig5 -t 1 --quiet 2>err || code=$?
if kill -0 "$pid" 2>/dev/null; then
    [ "$code" = 1 ]
    grep -q "'s': another weir study is at work there" err
fi
wait "$pid"
[ -s s/study.json ]
