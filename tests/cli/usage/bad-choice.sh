weir cache status . --color alwys
