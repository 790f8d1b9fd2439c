# Two options for one number.
weir plan --model resnet50 --accelerator A100 --step-ms 10
