# What eight V100 at fp16 need: 1 to 1.3 GB/s, as a storage engineer found.
weir plan --model resnet50 --accelerator V100-fp16 -g 8 --storage nvme \
    --cores 64 --no-what-if --target 0
