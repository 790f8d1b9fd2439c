weir gen tensors d --write-list d.csv
