# Any number of threads gives the same bytes; another seed does not.
weir gen imagenet a -n 6 -c 2 --seed 3 --threads 1 > /dev/null
weir gen imagenet b -n 6 -c 2 --seed 3 --threads 4 > /dev/null
weir gen imagenet c -n 6 -c 2 --seed 4 > /dev/null
diff -r a b
for f in 0000_000000 0000_000001 0000_000002; do
    if cmp -s "a/class_0000/$f.jpg" "c/class_0000/$f.jpg"; then exit 9; fi
done
