# Fields of bytes are in no array unless they are named: that is said, once.
printf '{"x":[1,2,3],"name":"a","note":"b","label":1}\n' > in.jsonl
weir convert in.jsonl npz --to npz > /dev/null
weir convert in.jsonl chosen --to npz --fields x -q > /dev/null
weir convert in.jsonl named --to jsonl --fields x,name -q > /dev/null
grep -c '"name":"a"' named/*.jsonl
