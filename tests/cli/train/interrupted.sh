# Ctrl-C: the iteration is finished and saved, nothing is left half-written, and
# the run says how to go on.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
weir train set --accelerator ms=100 --width 0.0625 -b 6 -i 1000 --monitor 0 \
    --ckpt run -o run.json >out 2>err &
pid=$!
until [ -d run ] && grep -q '^SigCgt:.*[2367abef]$' "/proc/$pid/status"; do
    kill -0 "$pid"
    sleep 0.02
done
sleep 0.5
kill -INT "$pid"
code=0
wait "$pid" || code=$?
echo "exit $code"
sed 's/iteration [0-9]*$/iteration N/; s/step [0-9]* /step N /' err
[ ! -e run.json ]
find run -name 'step-*' | wc -l
find run -name '.tmp*'
weir ckpt verify run | grep -c damaged || :
weir train set --accelerator ms=1 --width 0.0625 -b 6 -i 40 --monitor 0 \
    --ckpt run --resume --json >run.json
result iterations <run.json
