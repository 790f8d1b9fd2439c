weir cache status ""
