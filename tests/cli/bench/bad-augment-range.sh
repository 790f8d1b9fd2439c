weir gen caltech101 set --samples 4 --classes 2 --quiet >/dev/null
weir bench set --crop random --crop-ratio 2,1
