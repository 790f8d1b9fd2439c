# Folders that someone puts there stay, and the message after Ctrl-C says so.
mkdir place
weir probe place --only random --file-size 16MiB --seconds 20 >out 2>err &
pid=$!
until ls place/weir-probe.*/big >/dev/null 2>&1; do
    kill -0 "$pid"
    sleep 0.05
done
for folder in place/weir-probe.*; do
    mkdir -p "$folder/a/b/c/d/e"
done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[ "$code" = 130 ]
tr '\n' ' ' <err | grep -q 'stopped; what was written is not removed: '
ls -d place/weir-probe.*/a/b/c/d/e >/dev/null
