weir ckpt ls
