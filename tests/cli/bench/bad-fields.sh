weir gen tensors set --samples 8 --shape 8x8x3 --quiet >/dev/null
weir bench set --dtype u8 --fields mask
