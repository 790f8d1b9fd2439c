weir ckpt ls nowhere
