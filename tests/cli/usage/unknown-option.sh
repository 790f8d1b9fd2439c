weir cache status . --thread5 1
