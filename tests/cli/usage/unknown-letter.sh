weir cache status . -qZ
