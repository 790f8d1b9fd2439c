# Each rank saves a state; the bytes are those of all, and nothing is left.
# shellcheck disable=SC1091
. "$(dirname "$0")/ranks.inc"
mkdir d
ranks 2 weir ckpt bench d --state small --saves 1 --warmups 1 --monitor 0 \
    --ways slow,async -o r.json >out
grep ranks: out
grep -c '^direct to slow' out
of r.json cases.1.ranks.#
of r.json cases.1.ranks.*.bytes | grep -x "$(of r.json bytes)" >/dev/null
ls -A d
weir report r.json | grep -c 'of 2 ranks'
