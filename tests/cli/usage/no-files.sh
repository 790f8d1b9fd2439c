# What is no file is refused with its name and kind, and is not waited for.
weir gen caltech101 d -n 4 -c 2 -q > /dev/null
mkdir s
for name in p p.csv p.tar p.tgz p.tfrecord p.npy p.wt p.jpg p.json p.profile \
    p.safetensors; do
    mkfifo "$name"
done
refused() { # WORD COMMAND...
    word=$1
    shift
    code=0
    timeout -k 1 20 "$@" > out 2> err < /dev/null || code=$?
    if [ "$code" != 1 ] || ! grep -q "$word" err; then
        echo "code $code: $*" >&2
        cat err >&2
        exit 9
    fi
}
for name in p p.csv p.tar p.tgz p.tfrecord p.npy p.wt p.jpg; do
    refused "'$name': is a pipe" weir inspect "$name"
    refused "'$name': is a pipe" weir bench "$name"
    refused "'$name': is a pipe" weir convert "$name" out --to tar
done
refused "'/dev/zero': is a device" weir inspect /dev/zero
refused "'/dev/zero': is a device" weir bench emu:ssd:/dev/zero
refused "'p.profile': is a pipe" weir inspect emu:p.profile:d
refused "'/dev/zero': is a device" weir inspect emu:/dev/zero:d
refused "'p.json': cannot open: it is a pipe" weir report p.json
refused "'/dev/zero': cannot open: it is a device" weir report /dev/zero
refused "p.safetensors.*pipe" weir ckpt save s --from p.safetensors --step 1
refused "'/dev/null': is a device" weir ckpt save s --from /dev/null --step 1

# beside and among good files: named, or left alone
mkfifo d/class_0000/zz.jpg
weir inspect d --no-index-cache | grep -q 'class_0000/zz.jpg'
weir convert d td --to tfrecord > /dev/null 2>&1
shard=$(ls td/*.tfrecord)
mkfifo "$shard.idx"
timeout -k 1 20 weir inspect td --no-index-cache > out
grep -q 'samples *4' out
rm td/classes.txt
mkfifo td/classes.txt
timeout -k 1 20 weir convert td tree --to jpeg > /dev/null
test -d tree/00001
