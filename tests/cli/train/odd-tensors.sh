# Tensors that no picture is in are refused with the reason; where nothing is
# computed they are fed as they are.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
try() {
    weir gen tensors raw --samples 14 --classes 2 --force --quiet "$1" "$2" "$3" "$4" >/dev/null
    code=0
    tiny raw -i 2 >out 2>err || code=$?
    cat err
    echo "exit $code"
    tiny raw -i 2 --accelerator ms=1 >out
}
try --shape 67x67x3 --dtype f32
try --shape 67x67x3 --dtype f16
try --shape 3x67x67 --dtype u8
try --shape 67x67x1 --dtype u8
try --shape 67x80x3 --dtype u8
try --shape 100 --dtype u8
