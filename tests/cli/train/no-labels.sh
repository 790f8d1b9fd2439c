# Samples without labels cannot be learned from; one class can, with a warning.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set 12 2
mkdir flat
cp set/class_0000/*.jpg flat
find flat -name '*.jpg' >list.csv
code=0
tiny list.csv --root . -i 1 >out 2>err || code=$?
echo "exit $code"
tail -n 1 err
mkdir one
mv flat one/cats
tiny one -i 1 --holdout 0 >out 2>err
cat err
# One that lacks it is named before anything is trained, not when its turn comes.
find set -name '*.jpg' | sort | awk '{ print $0 (NR == 12 ? "" : "," NR % 2) }' >some.csv
code=0
tiny some.csv -i 1 >out 2>err || code=$?
echo "exit $code"
cat err
tiny some.csv -i 1 --accelerator none >out
