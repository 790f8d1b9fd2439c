# Files over the limit of one sample are not read, with --verify or without.
mkdir d
truncate -s 3G d/zeros.jpg
printf '\377\330\377' >d/start.jpg
truncate -s 3G d/start.jpg
weir inspect d -q
weir inspect d -q --verify || test $? -eq 3
