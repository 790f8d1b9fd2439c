# Ctrl-C: the iteration is finished and saved, nothing is left half-written, and
# the run says how to go on.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
weir train set --accelerator ms=100 --width 0.0625 -b 6 -i 1000 --monitor 0 \
    --ckpt run --save-every 3 -o run.json >out 2>err &
pid=$!
until [ -n "$(find run -maxdepth 1 -name 'step-*' 2>/dev/null)" ]; do
    kill -0 "$pid"
    sleep 0.02
done
kill -INT "$pid"
code=0
wait "$pid" || code=$?
echo "exit $code"
sed 's/iteration [0-9]*$/iteration N/; s/step [0-9]* /step N /' err
[ ! -e run.json ]
[ -n "$(find run -name 'step-*')" ]
find run -name '.tmp*'
weir ckpt verify run | grep -c damaged || :
weir train set --accelerator ms=1 --width 0.0625 -b 6 -i 40 --monitor 0 \
    --ckpt run --resume --json >run.json
result iterations <run.json
