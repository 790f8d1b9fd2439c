# How often to save, and what a failure costs.
weir plan bert_v100 --storage lustre --cores 16 --gpus 8 --nodes 16 --save burst \
    --fast nvme --mtbf 5000 --restart 120 --no-what-if --target 0 --steps 1000
