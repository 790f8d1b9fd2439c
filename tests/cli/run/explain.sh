# Every workload that is built in is listed, explained, and means the same again
# when what was understood of it is read.
weir run --list >list
names=$(awk '/^  /{ print $1 }' list)
for name in $names; do
    weir run "$name" --explain >out 2>err || echo "$name: $(cat err)"
    grep -q 'steps per epoch\|size of one' out || echo "$name: nothing"
done
for name in imagenet_resnet50 cosmic_tagger ffn climate cosmoflow_seed candle_nt3 l2hmc \
    bert_mrpc mmaadsp frnn unet3d_b200 resnet50_v100 cosmoflow_h100 \
    retinanet_b200 llama3_405b; do
    echo "$names" | grep -qx "$name" || echo "$name is missing"
done
[ "$(echo "$names" | wc -l)" -ge 40 ]
