# Nobody can load without workers.
weir plan --model resnet50 --threads 0
