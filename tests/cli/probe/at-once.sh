# Many probes of one folder: none takes another's for one that was left behind.
mkdir place
for _ in 1 2 3 4 5; do
    pids=
    for _ in 1 2 3 4 5 6 7 8; do
        weir probe place --only sync --file-size 1MiB --passes 1 --seconds 0.01 \
            >/dev/null &
        pids="$pids $!"
    done
    for pid in $pids; do
        wait "$pid"
    done
done
[ -z "$(ls -A place)" ]
