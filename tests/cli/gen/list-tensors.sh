weir gen tensors d --list d.csv
