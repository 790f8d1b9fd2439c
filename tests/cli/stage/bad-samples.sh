# A sample that cannot be read is named and left out; so is, when decoded, one
# that is no picture.
weir gen caltech101 set -n 20 -c 2 -q >/dev/null
printf 'hello' >set/class_0001/text.jpg
mkdir fast
weir stage set fast:50MiB | head -n 2
weir stage set fast:50MiB --cache-what decoded --size 16x16 | head -n 2
mkdir other
weir stage 'fault:eio@~text:set' other:50MiB --json | grep '"bad_count"\|text.jpg'
# what is there already is not read, whatever the name of the data set
weir stage 'fault:eio@~text:set' fast:50MiB --json | grep '"bad_count"\|"kept"'
