# Options that contradict or miss each other, and values out of range.
weir gen caltech101 set --samples 4 --classes 2 --quiet >/dev/null
try() {
    code=0
    weir train set "$@" >out 2>err || code=$?
    head -n 1 err
    echo "exit $code"
}
try --save-every 2
try --resume
try --slow x
try --ckpt a --keep-fast 2
try --synthetic
try --accelerator K999
try --engine none
try --width 0
try --epochs 1e30
try --learning-rate 0
try --holdout 0.6
try --ckpt a --level verified --no-verify
try --size 60 --engine reference
try --size 67x66 --engine reference
try --batch 100000
try --holdout 1e-7
[ ! -e a ]
