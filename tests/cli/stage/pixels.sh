# Options that decide pixels mean nothing to samples that are kept as they are.
mkdir fast
weir stage set fast:1GiB --size 64x64
