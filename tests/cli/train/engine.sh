# The engine is oneDNN where its module can be loaded, else the reference, and a
# word about it; one that was asked for is never replaced.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
mkdir none
small() {
    weir train set --size 67 --width 0.0625 -b 6 -i 2 --monitor 0 "$@"
}

WEIR_MODULES=none small >out 2>err
grep -q 'reference engine, .*: no weir-onednn.so in WEIR_MODULES' err
grep -q 'reference engine, ' out
code=0
WEIR_MODULES=none small --engine onednn >out 2>err || code=$?
[ "$code" -eq 1 ] || [ "$code" -eq 2 ]
grep -q "engine 'onednn': no weir-onednn.so in WEIR_MODULES, 'none'" err
echo garbage >none/weir-onednn.so
code=0
WEIR_MODULES=none small --engine onednn >out 2>err || code=$?
[ "$code" -eq 1 ] || [ "$code" -eq 2 ]
grep -q "'none/weir-onednn.so': cannot load" err
echo "without the module: said"

weir doctor . | grep -q '^ok *oneDNN' || { echo "with it: said"; exit 0; }
# OpenMP would print of a value that it does not understand.
OMP_NUM_THREADS=many small --compute-threads 2 >out 2>err
grep -q 'onednn engine, 2 threads' out
if grep -i gomp err; then exit 1; fi
echo "with it: said"
