# Memory that is short is named, with its limit.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
limited() {
    (
        # shellcheck disable=SC3045
        ulimit -v 400000
        exec weir "$@"
    )
}
limited help >/dev/null 2>&1 || { echo "needs more memory to start" >&2; exit 77; }
limited train set --engine reference --width 1 -i 1 --monitor 0 --ckpt run >out
