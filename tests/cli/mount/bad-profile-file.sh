mkdir a b
echo "read_latency = soon" >x.profile
weir mount --profile x.profile a b
