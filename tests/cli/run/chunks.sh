# Chunks of an HDF5 file, read by four ranks.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
[ -x "${WEIR_HDF5_HELPER:-}" ] || { echo "built without HDF5" >&2; exit 77; }
weir gen cosmic_tagger d --scale 0.001 -q >/dev/null
ranks 4 weir run cosmic_tagger d --scale 0.001 --steps 3 --no-selftest \
    --monitor 0 train.computation_time=0.01 >said || { cat err; exit 9; }
wait
grep -q "mostly of 6 KiB" said
grep -Eq "^ranks +8 +4$" said
