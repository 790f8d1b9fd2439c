# Broken pictures are skipped and named; a data set of nothing else is an error.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set 20 2
echo 'no picture' >set/class_0001/broken.jpg
tiny set --epochs 2 | sed -n '/skipped/,$p'
tiny set --epochs 1 --on-error fail >out 2>err || echo "exit $?"
grep -o "class_0001/broken.jpg.*" err
find set -name '*.jpg' -exec sh -c 'echo bad >"$1"' sh {} \;
code=0
tiny set --epochs 1 >out 2>err || code=$?
echo "exit $code"
sed 's/[^ ]*jpg/FILE/g' err
code=0
tiny set --compare -i 1 -r 2 >out 2>err || code=$?
echo "exit $code"
sed 's/^weir train: [0-9]* samples/weir train: N samples/; s/[^ ]*jpg/FILE/g' err
