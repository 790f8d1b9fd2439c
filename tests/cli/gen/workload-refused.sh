# What weir cannot write is said, and nothing is made.
fails() {
    what=$1
    shift
    code=0
    weir gen "$@" 2>said || code=$?
    test "$code" -ne 0
    grep -q -- "$what" said || { cat said; exit 9; }
    test ! -e d && test ! -e .d.part
}
fails parquet default d dataset.format=parquet
fails chunk_dims default d dataset.format=hdf5 'dataset.hdf5.chunk_dims=[1,8]'
fails unet3d_h100 unet3d_h10 d
fails "not for workloads" unet3d_h100 d --samples 3
fails "for workloads only" imagenet d --scale 0.1
fails "for workloads only" tensors d dataset.format=npz
fails "pictures only" tensors d --drawn 4
