weir convert nowhere out --to tar
