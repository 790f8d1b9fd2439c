# What cannot be is said before anything is opened or measured, with exit 2 and
# the option's name.
mkdir set
try() {
    weir bench set "$@" 2>err && echo "was taken: $*"
    echo "$? $(head -n 1 err)"
}
try --size 224x
try --size x224
try --size 0x5
try --size 224x224x3
try --crop random --crop-area 2,3
try --crop-area 2,3
try --crop random --crop-ratio 0,0
try --crop center --crop-center 3
try --cache ram:4Q
try --cache ram
try --cache ram:4GiB,
try --cache ram:4GiB --cache-what decoded --flip
try --cache-what decoded
try --rank 4
try --rank 4 --world 3
try --channels 2
try --dtype bf16
try --epochs 0
try --min-rate -3
try --consumer-ms 2e6
try --accelerator ms=2e6
try --accelerator K40
try --accelerator cpu
try --accelerator none --consumer-ms 5
try --holdout 0.1
try --part train
try --split-seed 3
try --holdout 0.6 --part train
try --holdout 1e-7 --part train
try --holdout 0.1 --part test
try --threads 1,0
try --format nonsense | sed 's/, list,.*/, .../' # all formats follow
