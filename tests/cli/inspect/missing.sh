weir inspect nowhere
