weir ckpt drain fast
