# Lists with tabs, with other columns, and with a header of other names, which
# would shift the labels unnoticed.
weir gen caltech101 set --samples 6 --classes 3 -q --write-list l.csv >/dev/null
sed 's/,/\t/' l.csv >tabs.tsv
{ echo 'file,class'; cat l.csv; } >names.csv
{ printf 'split\tfile\tclass\n'; sed 's/^/train\t/; s/,/\t/' l.csv; } >three.tsv
sed 's/^/x,/' l.csv >headless.csv
try() {
    weir inspect "$@" --no-index-cache >out 2>err || {
        echo "exit $?"
        head -n 1 err
        return 0
    }
    grep -E '^  (samples|classes)' out
}
try tabs.tsv
try names.csv
try names.csv --columns path=file,label=class
try three.tsv
try three.tsv --columns path=file,label=class
try three.tsv --columns path=file,label=klass
try three.tsv --columns file
try headless.csv --columns path=2,label=3
try set --columns path=1
