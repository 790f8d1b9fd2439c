# Records: the picture is inside, and so are the labels; gzip tells the same.
weir gen caltech101 d -n 24 -c 4 -q >/dev/null
weir convert d rec --to tfrecord --shard-size 100KiB -q >/dev/null
weir convert d tars --to tar --shard-size 100KiB -q >/dev/null
mkdir gz
for f in rec/*.tfrecord; do gzip -c "$f" >"gz/${f#rec/}.gz"; done
mkdir tgz
for f in tars/*.tar; do gzip -c "$f" >"tgz/${f#tars/}.gz"; done
look() {
    weir inspect "$1" --verify | sed -n 's/^ *index .*//; 3,$p'
}
pictures() {
    sed -n '/^Pictures/,$p' "$1"
}
for set in d rec tars gz tgz; do look $set >$set.txt; done
cmp rec.txt gz.txt
cmp tars.txt tgz.txt
for set in rec tars; do
    pictures d.txt >a
    pictures $set.txt >b
    cmp a b
done
weir inspect rec -n 1000 --list-classes |
    grep '^  samples  \|^  classes\|^ *[0-3]  '
weir inspect gz -n 5 | grep '  classes\|^Pictures'
weir inspect rec -n 5 | grep '  classes\|^Pictures'
weir inspect gz -n 5 --json | grep '"samples_looked_at"\|"picked"'
