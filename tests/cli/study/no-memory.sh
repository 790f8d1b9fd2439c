# Memory that is short is named, with its limit; what was measured is kept.
limited() {
    (
        # shellcheck disable=SC3045
        ulimit -v 400000
        exec weir "$@"
    )
}
limited help >/dev/null 2>&1 || { echo "needs more memory to start" >&2; exit 77; }
weir study s --images 4 -r 2 -t 1 --only fig5 --quiet >/dev/null
set -- s --images 4 -r 2 -t 1 --iterations 2 --quick --quiet
if limited study "$@" --only fig9 2>err; then exit 1; fi
grep -q '^weir study: out of memory: weights and moments take [0-9]* MB (RLIMIT_AS' err
[ -z "$(find s/data -name 'run-*')" ]
[ "$(find s/cells -name 'feed-*' | wc -l)" = 5 ]
