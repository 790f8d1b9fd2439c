weir convert in out
