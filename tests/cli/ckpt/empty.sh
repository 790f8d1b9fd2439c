# A folder without steps.
mkdir store
weir ckpt ls store
weir ckpt verify store
weir ckpt restore store --to out
