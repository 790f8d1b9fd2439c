# Symbolic links are counted, and refused by name.
weir gen caltech101 d -n 6 -c 2 -q >/dev/null
weir inspect d | grep -c '  links ' || true
echo 'not a picture' >outside.jpg
ln -s ../../outside.jpg d/class_0000/0000.jpg
ln -s class_0000 d/class_0002
weir inspect d | grep '  links '
weir inspect d --json | grep '"links"'
weir inspect d --no-links 2>&1 || echo "exit $?"
weir bench d --no-links --no-limits 2>&1 || echo "exit $?"
weir inspect d/class_0001 --no-links | grep '  samples'
weir convert d/class_0000 to --to tar --no-links 2>&1 || echo "exit $?"
test ! -e to
# A list may lead out as well, also through an index that was kept.
printf '%s\n' class_0001/0001_000000.jpg ../outside.jpg "$PWD/outside.jpg" >d/a.lst
weir inspect d/a.lst --index-dir idx | grep 'remark\|samples  '
weir inspect d/a.lst --index-dir idx --no-links 2>&1 || echo "exit $?"
printf 'class_0001/0001_000000.jpg\nx..y/..z\n' >d/b.lst
weir inspect d/b.lst --no-links | grep 'remark\|samples  '
