# A signal ends a command that waits in a system call.
mkfifo p
exec 3<> p # a writer that never writes
weir report - < p 2> err &
pid=$!
until grep -q '^0 0x0 ' "/proc/$pid/syscall" 2> /dev/null; do
    [ -d "/proc/$pid" ] || break
    if ! [ -r "/proc/$pid/syscall" ]; then
        echo "/proc/PID/syscall cannot be read here" >&2
        kill -KILL "$pid"
        exit 77
    fi
    sleep 0.01
done
kill -TERM "$pid"
timeout 20 tail --pid="$pid" -f /dev/null || kill -KILL "$pid"
code=0
wait "$pid" || code=$?
test "$code" = 143
