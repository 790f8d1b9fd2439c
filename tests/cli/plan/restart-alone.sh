# An option that changes nothing alone.
weir plan --model resnet50 --recovery 10
