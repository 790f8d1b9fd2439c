# Nodes that share one file system: the knee shows.
weir plan --sample-bytes 1MiB --samples 100000 --step-ms 100 --batch 32 -g 4 \
    --aggregate 100GiB/s --cores 16 --cpu-ms 0.1 --nodes 10 --try-nodes 1,10,100,1000 \
    --no-what-if --target 0 --json >p.json
grep -c '"nodes": 1000' p.json
