# CSV and JSON: their fields, what stands behind '#', and broken rows by their
# lines and columns.
{
    echo 'a,b,kind'
    for k in 0 1 2 3 4 5 6 7; do
        for i in 0 1 2 3 4 5 6 7; do echo "$k.5,$i,bee"; done
    done
    printf '1,2,ant\n1,zwei,ant\n1,2\n1e39,2,bee\n'
} >a.csv
{
    for k in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
        echo "{\"data\": {\"x\": [[$k, 1], [2, 3]]}, \"y\": $k, \"s\": \"t\"}"
    done
    printf '{"data": {"x": [[1], [2, 3]]}, "y": 1}\n{"data": {"x": [[1,\n'
} >a.jsonl
echo '[[1, 2, 3], [4, 5, 6]]' >a.json
look() {
    echo "$*"
    weir inspect --no-index-cache "$@" >out 2>err || echo "exit $?"
    grep -E '^  (samples|fields|classes|   .*: )|broken|Broken|: line' out || true
    cat err
}
look a.csv
look 'a.csv#label=kind' --verify
look a.csv --schema x=tensor:f64:2x1
look 'a.csv#label=none2'
look 'a.csv#lable=kind'
look 'a.jsonl#x=/data/x,label=/y' --verify
look 'a.jsonl#x=/data/y'
look a.json --verify
printf 'a,b\n1,2\n3,x\n4,1e309\n5,6\n' >stray.csv
look stray.csv --verify
