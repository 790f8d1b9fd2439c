# All four ways on emulated devices; nothing is left; the record can be shown.
mkdir d
weir ckpt bench d --state small --saves 2 --warmups 1 -o r.json
ls -A d
weir report r.json | grep -c 'burst buffer, asynchronous' >/dev/null
