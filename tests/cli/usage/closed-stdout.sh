weir help cache >&-
