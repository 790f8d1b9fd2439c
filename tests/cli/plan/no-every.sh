# Saves without an interval.
weir plan --model resnet50 --accelerator A100 --storage ssd --cores 2 --save direct
