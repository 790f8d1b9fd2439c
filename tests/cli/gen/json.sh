# The summary as JSON.
weir gen tensors t -n 10 --shape 8x8x3 --samples-per-file 4 -t 2 --seed 5 --json
