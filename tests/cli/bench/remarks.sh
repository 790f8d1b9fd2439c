# What was ignored, and train/ beside val/, is said before measuring.
mkdir photos
weir gen caltech101 photos/train -n 4 -c 2 -q >/dev/null
weir gen caltech101 photos/val -n 4 -c 2 -q >/dev/null
: >photos/val/movie.mp4
weir bench photos -r 2 -b 4 --no-limits --json 2>notes >out
grep -q '"ignored_files": 1' out
grep -q 'contains train/ and val/' notes
grep '1 file ignored: .mp4 1' notes
