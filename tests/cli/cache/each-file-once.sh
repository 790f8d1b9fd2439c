# Named twice, linked hard, linked symbolically, in a loop: still one file.
mkdir d
echo hello >d/file
ln d/file d/hard
ln -s file d/soft
ln -s .. d/loop
ln -s nowhere d/dangling
weir cache status d d/file d/soft --json
