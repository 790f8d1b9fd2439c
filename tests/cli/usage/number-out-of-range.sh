weir cache status . --threads=65
