weir ckpt ls store --keep 3
