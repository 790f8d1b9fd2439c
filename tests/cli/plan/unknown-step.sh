# A model and an accelerator without a number.
weir plan --model unet3d --accelerator K80
