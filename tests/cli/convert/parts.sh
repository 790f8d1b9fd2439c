# Both parts as trees: every picture is in one of them, under its class, and the
# classes keep their numbers. What one part has begun is not mixed with the other.
weir gen caltech101 in -n 60 -c 30 -q >/dev/null
for part in train held-out; do
    weir convert in "$part" --to jpeg --holdout 0.1 --part "$part" >/dev/null
done
pictures() { (cd "$1" && find . -name '*.jpg'); }
pictures in | sort >all
{ pictures train; pictures held-out; } | sort >both
cmp all both
[ "$(pictures held-out | wc -l)" = 6 ]
cmp train/classes.txt held-out/classes.txt
[ "$(wc -l <held-out/classes.txt)" = 30 ] # also those without a sample here
# Which samples: those that bench takes, whatever form they are in.
weir convert in recs --to tfrecord >/dev/null
weir convert recs again --to tfrecord --holdout 0.1 --part held-out --name in >/dev/null
weir convert in first --to tfrecord --holdout 0.1 --part held-out >/dev/null
cmp first/in-00000-of-00001.tfrecord again/in-00000-of-00001.tfrecord
# The job of one part is not that of the other.
mkdir .t.part
sed -n '/^weir convert/,/^picture/p' first/.weir-convert >.t.part/.weir-convert
weir convert in t --to tfrecord --holdout 0.1 --part train 2>err && exit 9
grep -q 'unfinished conversion with other settings' err
weir convert in t --to tfrecord --holdout 0.1 --part train --restart >/dev/null
# A part without samples.
weir convert in none --to tar --holdout 0.0001 --part held-out 2>err && exit 9
grep -q 'leaves none of its 60 samples' err
test ! -e none
