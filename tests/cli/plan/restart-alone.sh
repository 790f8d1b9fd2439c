# An option that changes nothing alone.
weir plan --model resnet50 --restart 10
