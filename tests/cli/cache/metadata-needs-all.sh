weir cache drop --metadata .
