# A root that holds train/ and val/ is not what was meant, most likely.
mkdir photos
weir gen caltech101 photos/train -n 4 -c 2 -q >/dev/null
weir gen caltech101 photos/val -n 4 -c 2 -q >/dev/null
weir inspect photos | grep remark
weir inspect photos/train | grep -c remark || :
