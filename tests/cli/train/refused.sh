# Checkpoints that are there are not trained over, and other settings are refused
# by their names; what is there stays as it is.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
tiny set -i 2 --ckpt run >/dev/null
refuse() {
    code=0
    tiny set "$@" >out 2>err || code=$?
    tail -n 1 err
    echo "exit $code"
}
refuse -i 4 --ckpt run
refuse -i 4 --ckpt run --resume -b 5
refuse -i 4 --ckpt run --resume --width 0.125
refuse -i 4 --ckpt run --resume --seed 3
refuse -i 4 --ckpt run --resume --learning-rate 0.25
refuse -i 4 --ckpt run --resume --holdout 0.25
refuse -i 4 --ckpt run --resume --accelerator ms=1
refuse -i 4 --ckpt run --resume --crop random
refuse -i 4 --ckpt run --resume --flip
refuse -i 4 --ckpt run --resume --order sequential
refuse -i 4 --ckpt run --resume --order block
refuse -i 4 --ckpt run --resume --decode fast
refuse -i 4 --ckpt run --resume --resize area
refuse -i 4 --ckpt run --resume --orient exif
refuse -i 4 --ckpt run --resume --size 67x68
rm "$(find set/class_0000 -name '*.jpg' | head -n 1)"
refuse -i 4 --ckpt run --resume
weir ckpt ls run | head -n 2 | cut -d' ' -f1
