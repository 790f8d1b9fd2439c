# Results that do not fit are missing, and that is said with no false reason.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
[ -c /dev/full ] || { echo "no /dev/full" >&2; exit 77; }
make_set 8 2
tiny set -i 1 --accelerator none --json >/dev/full
