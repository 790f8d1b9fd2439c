# A sample without a label lies in the root of the tree, and moves no labels.
weir gen caltech101 in -n 12 -c 3 -q > /dev/null
for f in in/class_*/*.jpg; do
    f=${f#in/}
    echo "$f,${f%%/*}"
done | sed '1s/,.*//' > in/l.csv
first=$(head -n 1 in/l.csv)
weir convert in/l.csv out --to jpeg > /dev/null
test "$(cd out && echo */)" = "class_0000/ class_0001/ class_0002/"
cmp "in/$first" "out/$(echo "$first" | tr / _)"
rm "out/$(echo "$first" | tr / _)" out/classes.txt out/.weir-convert
rm in/l.csv "in/$first"
diff -r in out -x .weir-gen
