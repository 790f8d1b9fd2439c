# Nothing is invented: the storage is missing.
weir plan --model resnet50 --accelerator A100 --cores 2
