# A picture that is copied is not decoded, unless --check asks for it.
weir gen caltech101 in -n 4 -c 1 -q > /dev/null
file=$(find in -name '*.jpg' | sort | head -n 1)
truncate -s -200 "$file"
weir convert in copied --to tfrecord -q > /dev/null
weir convert in checked --to tfrecord --check > /dev/null
{ weir inspect --verify copied || test $? -eq 1; } | grep -i broken
weir inspect --verify checked | grep -i broken
