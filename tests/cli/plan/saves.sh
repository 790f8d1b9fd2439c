# How often to save, and what a failure costs.
weir plan bert_v100 --storage lustre --cores 16 -g 8 --nodes 16 --save burst \
    --fast-device nvme --mtbf 5000 --recovery 120 --no-what-if --target 0 --steps 1000
