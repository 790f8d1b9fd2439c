weir cache status . --threads
