weir gen tensors d --shape 224x
