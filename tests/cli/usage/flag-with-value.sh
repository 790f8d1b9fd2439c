weir cache status . --json=yes
