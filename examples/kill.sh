#!/bin/sh
# kill.sh - runs an example, kills it in the middle, and runs it again.
# SPDX-License-Identifier: Apache-2.0
#
# usage: kill.sh RUN PROGRAM WANTED, as run.sh's. The program is given a data set
# and a folder; it prints "step N" now and then, and "resumed at step N" when it
# goes on.
set -eu

run=$1
program=$2
wanted=$3
dir=$(mktemp -d "${TMPDIR:-/tmp}/weir-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT

# What run.sh starts: kills the program after its tenth step, twice, and lets
# the third run end.
cat >"$dir/killer" <<'END'
#!/bin/sh
set -eu
for times in 1 2; do
    mkfifo "$3/pipe"
    stdbuf -oL "$1" "$2" "$3/store" >"$3/pipe" &
    pid=$!
    {
        seen=0
        while [ $seen -lt 10 ] && read -r line; do
            case $line in step*) seen=$((seen + 1)) ;; esac
            case $line in resumed*) : >"$3/resumed-$times" ;; esac
        done
        kill -9 $pid
    } <"$3/pipe"
    wait $pid 2>/dev/null || :
    rm "$3/pipe"
done
[ -e "$3/resumed-2" ]
"$1" "$2" "$3/store" >"$3/last"
grep -q '^resumed at step' "$3/last"
cat "$3/last"
END
chmod +x "$dir/killer"
cat >"$dir/start" <<END
#!/bin/sh
exec "$dir/killer" "$program" "\$1" "$dir"
END
chmod +x "$dir/start"
"$run" "$dir/start" "$wanted"
