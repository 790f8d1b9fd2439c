# Less than one step.
weir plan --model resnet50 --accelerator A100 --storage ssd --cores 2 -g 8 --samples 10
