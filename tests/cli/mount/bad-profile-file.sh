mkdir a b
echo "read_latency = soon" >x.profile
weir mount -p x.profile a b
