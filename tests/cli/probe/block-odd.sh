# Direct reads are multiples of 4 KiB.
weir probe . --block 4KiB,5KiB
