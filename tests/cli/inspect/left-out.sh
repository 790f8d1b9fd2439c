# What only later samples have is named where all are read; else inspect says
# that it looked at the first ones.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    echo '{"x":[1,2],"label":0}'
done >a.jsonl
cp a.jsonl b.jsonl
echo '{"x":[3,4],"label":1,"late":7}' >>b.jsonl
for how in "a.jsonl" "b.jsonl" "b.jsonl --verify" "b.jsonl#x=/x --verify"; do
    # shellcheck disable=SC2086 # options
    weir inspect $how | grep -E "remark|broken" || echo nothing
done
weir inspect b.jsonl --verify --json | grep -A2 '"remarks"'
