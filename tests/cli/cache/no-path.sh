weir cache drop
