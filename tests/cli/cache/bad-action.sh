weir cache drip .
