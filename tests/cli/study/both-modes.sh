weir study --quick --full
