# Pictures that EXIF says lie on their side, upright; the job is another one.
weir gen caltech101 in -n 6 -c 2 -q >/dev/null
for f in in/*/*.jpg; do
    { head -c 2 "$f"
      printf '\377\341\0\42Exif\0\0II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0'
      tail -c +3 "$f"; } >turned
    mv turned "$f"
done
weir inspect in | grep 'turned'
weir convert in stored --to tensor --size 16x12 >/dev/null
weir convert in upright --to tensor --size 16x12 --orient exif >/dev/null
cmp -s stored/in-00000-of-00001.wt upright/in-00000-of-00001.wt && exit 9
weir convert in small --to jpeg --max-side 40 --orient exif >/dev/null
weir inspect small | grep -c turned || :
# an unfinished conversion of the stored ones is not gone on with
mkdir .other.part
cp stored/.weir-convert .other.part/
weir convert in other --to tensor --size 16x12 --orient exif && exit 9
weir convert in other --to tensor --size 16x12 >/dev/null
cmp stored/in-00000-of-00001.wt other/in-00000-of-00001.wt
