mkdir set
weir bench set -t 1,2,3,4,5,6,7,8 -d 1,2,3,4,5,6,7,8 -p 1,2,3,4,5,6,7,8
