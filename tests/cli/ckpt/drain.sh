# What a trainer left on the fast tier is brought to the slow one.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_file in.safetensors 'hello, world'
weir ckpt save fast slow --from in.safetensors --step 7 --level fast
weir ckpt ls fast slow --json | grep -q '"slow": "-"'
[ ! -e slow/step-000000000007 ]
weir ckpt drain fast slow
weir ckpt drain fast slow
weir ckpt verify slow
cmp fast/step-000000000007/r00000.safetensors slow/step-000000000007/r00000.safetensors
