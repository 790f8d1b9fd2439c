# Two records that cannot be about one training.
weir gen imagenet one -n 32 --quiet >out
weir gen imagenet two -n 64 --quiet >out
weir bench one -r 2 --no-limits --quiet --stages read -o a.json >out
weir bench two -r 2 --no-limits --quiet --stages read -o b.json >out
weir plan a.json b.json --step-ms 10
