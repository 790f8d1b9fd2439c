# The talk's stall: every fourth batch of four workers that take turns.
n=900
while [ $n -lt 960 ]; do
    echo "batch_results: $n , 1040"
    echo "batch_results: $((n + 1)) , 43"
    echo "batch_results: $((n + 2)) , 89"
    echo "batch_results: $((n + 3)) , 29"
    n=$((n + 4))
done >log
weir plan --stalls log --threads 4
