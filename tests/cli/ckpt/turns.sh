# A node that the job went on without: what it left replaces nothing and outranks
# nothing, and commands decide about it.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save() { # FAST STEP TEXT LEVEL
    make_file in.safetensors "$3"
    weir ckpt save "$1" slow --from in.safetensors --step "$2" --level "$4" >/dev/null
}
save a 100 'both' verified
save a 110 'stale, of a' fast
save b 105 'newer, of b' verified
weir ckpt drain a slow || echo "exit $?"
weir ckpt ls a slow | grep -v '^$'
weir ckpt restore a slow --into out
save a 110 'anew, of a' verified
weir ckpt ls a slow --json | grep -c '"stale"'
weir ckpt adopt a slow || echo "exit $?"
weir ckpt discard a slow --json | tr -d '[] \n'
echo
weir ckpt discard a slow
weir ckpt pin a slow --step 105 >/dev/null
weir ckpt rm a slow --step 105 || echo "exit $?"
weir ckpt unpin a slow --step 105 >/dev/null
weir ckpt rm a slow --step 105
weir ckpt rm a slow --step 105 || echo "exit $?"
grep -ac 'anew, of a' slow/step-000000000110/r00000.safetensors
