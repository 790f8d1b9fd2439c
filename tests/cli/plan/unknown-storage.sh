# No such profile.
weir plan --model resnet50 --accelerator A100 --storage floppy
