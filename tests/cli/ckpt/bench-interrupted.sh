# Ctrl-C in the middle of a slow bench leaves nothing.
mkdir d
weir ckpt bench d --like alexnet --moments 0 --ways slow --saves 50 >out 2>err &
p=$!
n=0
until [ -d d/weir-ckpt-bench-slow ] || [ $n -gt 200 ]; do
    sleep 0.1
    n=$((n + 1))
done
kill -INT $p
wait $p && exit 9
ls -A d
cat err
