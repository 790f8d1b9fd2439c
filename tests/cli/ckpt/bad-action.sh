weir ckpt frobnicate store
