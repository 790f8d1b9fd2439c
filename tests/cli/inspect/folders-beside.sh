# Folders beside shards are not read, which is said; where files are found
# beside folders only by being asked for, the message names their format.
mkdir -p d/more/deep rows/sub sets/a/b
for f in d/a d/more/b rows/sub/x; do
    printf 'x,y\n1,2\n3,4\n' >$f.csv
done
! weir inspect d
weir inspect d --format csv | grep remark
mkdir d/other
weir inspect d --format csv | grep remark
weir inspect rows --format csv | grep 'remark\|samples'
cp d/a.csv sets/a
weir inspect sets --format csv | grep remark
