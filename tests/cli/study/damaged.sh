# A damaged cell is named and measured again; the others are kept.
set -- s --images 8 -r 2 --only fig5 -t 1
weir study "$@" --quiet >/dev/null
cp s/cells/feed-imagenet-ssd-t1-read.json kept
printf '{"schema": "weir-' >s/cells/feed-imagenet-hdd-t1-read.json
weir study "$@" >/dev/null 2>err
grep "hdd-t1-read.json': line 1: .*: it is measured again" err >/dev/null
cmp kept s/cells/feed-imagenet-ssd-t1-read.json
grep -q '"value"' s/cells/feed-imagenet-hdd-t1-read.json
