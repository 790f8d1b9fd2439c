# Chunks of HDF5: their filters, and what a random sample costs.
[ -x "${WEIR_HDF5_HELPER:-}" ] || { echo "built without HDF5" >&2; exit 77; }
cp "$(dirname "$0")/../../data/hdf5/tiles.h5" .
weir inspect tiles.h5 --verify
weir inspect 'tiles.h5#data=/x,label=/y' | grep -e ': hdf5' -e '^  chunks'
weir inspect 'tiles.h5#data=/z' || echo "exit $?"
weir inspect 'tiles.h5#data=/x' --json | grep amplification
