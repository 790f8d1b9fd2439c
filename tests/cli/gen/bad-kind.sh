weir gen cifar d
