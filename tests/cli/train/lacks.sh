# What lacks is named: a folder that cannot be written, room on the disk.
# What was saved before stays, and can be resumed from.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
try() {
    code=0
    "$@" >out 2>err || code=$?
    tail -n 2 err | sed "s/step [0-9]* /step N /g; s/'fault.*: No/...: No/"
    echo "exit $code"
}
try tiny set -i 2 --ckpt /proc/nowhere
# The disk is full after some writes.
try tiny set -i 40 --save-every 1 --level fast --keep 0 \
    --ckpt 'fault:write-enospc@40+:run'
[ "$(find run -maxdepth 1 -name 'step-*' | wc -l)" -ge 1 ]
weir ckpt verify run | grep -c damaged || :
tiny set -i 40 --ckpt run --resume --json | result iterations
# A step that was only copied is not called saved: what is said is there.
try tiny set -i 40 --save-every 1 --keep 0 --ckpt 'fault:write-enospc@~MANIF:none'
code=0
tiny set -i 40 --save-every 1 --keep 0 --ckpt 'fault:write-enospc@40+:some' \
    >out 2>err || code=$?
said=$(sed -n 's/.*: step \([0-9]*\) is saved; the same.*/\1/p' err)
newest=$(weir ckpt ls some | awk '$1 ~ /^[0-9]+$/ && NF > 3 { n = $1 } END { print n }')
[ "$said" = "$newest" ] || echo "said $said, and $newest is there"
