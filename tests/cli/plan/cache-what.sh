# Neither a part nor a size.
weir plan --model resnet50 --accelerator A100 --storage ssd --cores 2 --cached much
