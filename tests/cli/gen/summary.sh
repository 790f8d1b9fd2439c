# One is one, and a format without labels has no classes.
weir gen tensors a --to npz --shape 4 --samples 10 --quiet | head -n 1
weir gen tensors b --to npz --shape 4 --samples 1 --quiet | head -n 1
weir gen tensors c --to indexed_binary --shape 4 --samples 10 --quiet | head -n 1
