# Ctrl-C ends what waits for storage that will not answer for an hour; nothing
# half-written appears. A command that hangs is killed after a minute.
weir gen caltech101 set -n 64 -c 4 -q >/dev/null
mkdir fast
never=fault:delay=3600000:set
printf 'like = null\nread_latency = 60 s\nchannels = 1\n' >ages.profile

# end CODE SIGNAL THREAD COMMAND...: sends it once a thread of that name is there
end() {
    want=$1 signal=$2 thread=$3
    shift 3
    rm -f over
    "$@" >out 2>err &
    pid=$!
    until grep -qs "^$thread" "/proc/$pid/task/"*/comm; do
        kill -0 "$pid"
        sleep 0.02
    done
    kill "-$signal" "$pid"
    (
        for _ in $(seq 600); do
            [ ! -e over ] || exit 0
            sleep 0.1
        done
        kill -KILL "$pid"
    ) &
    guard=$!
    code=0
    wait "$pid" || code=$?
    : >over
    wait "$guard"
    echo "$code"
    cat err
    [ "$code" = "$want" ]
}

end 130 INT weir-work weir bench "$never" --no-limits -o run.json
end 130 INT weir-work weir bench "$never" --no-limits --io blocking -o run.json
end 130 INT weir-work weir bench emu:./ages.profile:set --no-limits -o run.json
end 143 TERM weir-work weir bench "$never" --no-limits -o run.json
end 130 INT weir-work weir stage "$never" fast:50MiB
end 130 INT weir-work weir convert "$never" made --to tar
[ ! -e run.json ] && [ ! -e made ]
