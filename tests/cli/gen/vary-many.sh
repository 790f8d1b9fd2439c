# Samples of different sizes have a file each.
weir gen tensors d --vary 20
