weir gen caltech101 in -n 30 -c 3 -q > /dev/null
echo broken > "$(find in -name '*.jpg' | sort | sed -n 4p)"
weir convert in t --to tfrecord --on-error fail || code=$?
test ! -e t
exit "$code"
