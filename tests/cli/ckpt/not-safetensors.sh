# A file of another kind is called so, whatever its first bytes would mean.
echo 'path,label' >l.csv
try() {
    weir ckpt "$@" 2>&1 && echo "was taken: $*"
    echo "$?"
}
try save store --from l.csv --step 1
try show l.csv
try verify l.csv
