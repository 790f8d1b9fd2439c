# Archives joined by cat: the second is not read, and that is said.
weir gen caltech101 in -n 6 -c 2 -q > /dev/null
weir convert in out --to tar > /dev/null
cat out/*.tar out/*.tar > two.tar
gzip -c two.tar > three.tar.gz
for file in two.tar three.tar.gz; do
    weir inspect "$file" --no-index-cache > said
    grep -q 'samples *6' said
    grep -q "'$file': offset [0-9]*: another archive follows" said
done
