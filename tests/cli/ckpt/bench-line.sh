# On a terminal the header and a progress line are there before the first save
# can be done, and Ctrl-C ends it. One that hangs is killed after a minute.
command -v script >/dev/null || { echo "no script(1)" >&2; exit 77; }
mkdir d
mkfifo keys
printf 'like = null\nwrite_bandwidth = 100 KB/s\nchannels = 1\n' >ages.profile
timeout -s KILL 60 script -qec \
    "weir ckpt bench d --slow-device ./ages.profile --state small --ways slow" \
    /dev/null >out 2>&1 <keys &
pid=$!
exec 3>keys
until grep -q 'direct to slow *0%' out; do
    kill -0 "$pid"
    sleep 0.02
done
printf '\003' >&3
code=0
wait "$pid" || code=$?
echo "exit $code"
grep -o 'saves: 7 in each of 1 way' out
grep -o 'direct to slow *0%' out | head -n 1
grep -o 'interrupted: no result' out
ls -A d
