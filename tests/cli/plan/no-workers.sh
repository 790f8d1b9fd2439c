# Nobody can load without workers.
weir plan --model resnet50 --workers 0
