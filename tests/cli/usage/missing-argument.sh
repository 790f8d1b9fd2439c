weir completion
