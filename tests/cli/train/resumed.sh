# A run that goes on says from where; one that has nothing left to do says so, and
# so does one that has nothing to go on from. Two at once are refused.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
tiny set --epochs 1 --ckpt run --resume >out 2>err
cat err
grep -c '^Resumed' out || :
tiny set --epochs 2 --ckpt run --resume | grep '^Resumed'
tiny set --epochs 2 --ckpt run --resume >out
grep '^Nothing' out
grep -c '^Held-out accuracy' out
weir train set --accelerator ms=60000 --width 0.0625 --ckpt busy -i 2 \
    >/dev/null 2>&1 &
pid=$!
until [ -n "$(find busy -name '*lock*' 2>/dev/null)" ]; do
    kill -0 "$pid"
    sleep 0.02
done
code=0
weir train set --accelerator none --width 0.0625 --ckpt busy -i 2 >out 2>err || code=$?
echo "exit $code"
cat err
kill "$pid"
wait "$pid" || echo "exit $?"
