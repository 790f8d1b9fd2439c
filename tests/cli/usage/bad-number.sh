weir cache status . --threads x
