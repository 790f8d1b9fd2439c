weir cache warm --all .
