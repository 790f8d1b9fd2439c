# Files that are no safetensors, each with its reason.
for f in 'short' '\377\377\377\377\377\377\377\177{}' '\002\0\0\0\0\0\0\0[]' '\002\0\0\0\0\0\0\0{}x'; do
    # shellcheck disable=SC2059
    printf "$f" >bad.safetensors
    weir ckpt show bad.safetensors 2>&1 && exit 9
done
true
