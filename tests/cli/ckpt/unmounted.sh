# A slow tier that is not mounted is not taken for an empty store.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save_steps 1
mv slow away
mkdir slow
for action in ls "save --from in.safetensors --step 2" drain verify "restore --into out" "prune"; do
    # shellcheck disable=SC2086
    weir ckpt ${action%% *} fast slow ${action#"${action%% *}"} && echo "$action went on"
done
ls slow
rmdir slow
weir ckpt drain fast slow && echo went on
weir ckpt save slow2 fast --from in.safetensors --step 2 && echo went on
weir ckpt adopt fast slow
weir ckpt ls slow | head -n 2
