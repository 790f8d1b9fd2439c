# Ctrl-C in the middle of a checkpoint: it does not wait for the emulated disk.
weir study s --quick --iterations 2 -r 2 -t 1 --only fig9 --width 0.6 --quiet 2>err &
pid=$!
until [ -n "$(find s/data -path '*save-hdd*.safetensors*' 2>/dev/null)" ]; do
    kill -0 "$pid"
    sleep 0.02
done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[ "$code" = 130 ]
grep -q 'interrupted: 0 of 14 runs are done and kept; the same command goes on' err
[ -z "$(find s/data -name 'run-*')" ]
