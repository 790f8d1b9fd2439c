# What is wrong is named, with its place in the description.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
try() {
    code=0
    "$@" >out 2>err || code=$?
    head -n 1 err
    echo "exit $code"
}
try weir run
try weir run unet3d_a10
try weir run none.yaml
printf 'dataset:\n  num_file_train: 3\n' >bad.yaml
try weir run bad.yaml data
printf 'reader:\n  batch_size: -1\n' >bad.yaml
try weir run bad.yaml data
printf 'reader: [1\n' >bad.yaml
try weir run bad.yaml data
printf 'train: {computation_time: .nan}\n' >bad.yaml
try weir run bad.yaml data
: >bad.yaml
try weir run bad.yaml data
try kit dataset.num_files_train=13
try kit reader.batch_size=1000
try kit reader.batchsize=8
try kit other
try kit --slow there
try kit --scale 0
try weir run kit.yaml nowhere
try weir run dlrm_b200 data
