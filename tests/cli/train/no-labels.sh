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
