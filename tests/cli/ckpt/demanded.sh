# A store that is demanded by its id: another one, and an empty folder in its
# place, are refused by all that works on it, and by training.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save_steps 1 2
id=$(weir ckpt id fast slow)
wrong=$(echo "$id" | tr 0-9a-f 1-9a-f0)
try() {
    code=0
    weir "$@" >out 2>err || code=$?
    printf '%s' "$(grep -c "not store $wrong\|there is no store (store)" err) "
    echo "$1 $2: exit $code"
}
for action in ls show verify drain prune discard 'restore --into out1' \
    'pin --step 1' 'unpin --step 1' 'rm --step 1' \
    'save --from in.safetensors --step 3'; do
    # shellcheck disable=SC2086
    try ckpt $action fast slow --store "$wrong"
done
try ckpt ls fast slow --store "$id"
weir gen caltech101 set --samples 20 --classes 2 --quiet >/dev/null
train() {
    try train set --engine reference --size 67 --width 0.0625 -b 6 --monitor 0 \
        -i 2 "$@"
}
train --ckpt f --slow s
id=$(weir ckpt id f s)
mkdir unmounted
train --ckpt scratch --slow unmounted --resume --store "$id"
train --ckpt scratch --slow s --resume --store "$id"
[ ! -e unmounted/.weir ]
