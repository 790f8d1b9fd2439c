# Every way to write an option means the same.
echo hello >-odd
weir cache status --threads 2 --json -- -odd >want
for args in '--threads=2 --json' '-t 2 --json' '-t2 --js' '--thr 2 --json' \
    '--no-json -t9 -t 2 --json'; do
    # shellcheck disable=SC2086
    weir cache $args status -- -odd >got
    cmp want got
done
