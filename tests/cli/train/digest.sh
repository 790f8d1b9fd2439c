# The reference engine learns the same weights with any number of threads that
# compute or feed, with any prefetch, and with a stop in the middle of an epoch.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
for n in 1 2 3 4; do
    tiny set -i 9 --compute-threads $n -t $((5 - n)) -p $((n - 1)) \
        --json | result weights_digest
done | sort -u >digests
tiny set -i 4 --ckpt run --json >part.json
tiny set -i 9 --ckpt run --resume --json >rest.json
result resumed_at <rest.json
result iterations <rest.json
result weights_digest <rest.json | sort -u - digests | wc -l
