# A broken record is named by file, number and offset, and exit is 3; behind
# damage in gzip nothing can be reached, and the sample there is named.
weir gen caltech101 d -n 8 -c 2 -q >/dev/null
weir convert d rec --to tfrecord -q >/dev/null
mkdir gz
gzip -c rec/*.tfrecord >gz/a.tfrecord.gz
touch -d '2020-01-01 00:00' gz/a.tfrecord.gz gz
weir inspect gz --index-dir idx >/dev/null
printf 'XXXX' | dd of="$(echo rec/*.tfrecord)" bs=1 seek=100 conv=notrunc \
    2>/dev/null
code=0
weir inspect rec --verify | grep -A 9 '^Broken' || code=$?
weir inspect rec --verify >/dev/null || code=$?
echo "exit $code"
weir inspect rec --json | grep '"reason"\|"offset"'
# damaged with its size and mtime kept: the index is made anew
size=$(stat -c %s gz/a.tfrecord.gz)
head -c 30000 gz/a.tfrecord.gz >part
truncate -s "$size" part
cat part >gz/a.tfrecord.gz
touch -d '2020-01-01 00:00' gz/a.tfrecord.gz gz
weir inspect gz --index-dir idx | grep -A 9 '^Broken' | cut -c 1-50
