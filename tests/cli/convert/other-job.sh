# What an interrupted run with other settings left is not mixed in.
weir gen caltech101 in -n 20 -c 2 -q > /dev/null
mkdir .t.part
echo 'weir convert, version 1, something else' > .t.part/.weir-convert
touch .t.part/in-00000-of-00001.tfrecord
weir convert in t --to tfrecord && exit 9
weir convert in t --to tfrecord --restart > /dev/null
weir convert in t2 --to tfrecord > /dev/null
diff -r t t2
weir convert in t --to tfrecord && exit 9
weir convert in t --to tar --force > /dev/null
test -f t/in-00000-of-00001.tar
test ! -e t/in-00000-of-00001.tfrecord
mkdir own && touch own/precious
weir convert in own --to tar --force && exit 9
test -f own/precious
