# A slow tier that fails, or was restored from a backup, ends no training: what
# was saved is on the fast tier, and it is said.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
make_set
try() {
    code=0
    "$@" >out 2>err || code=$?
    echo "exit $code"
}
# It fails for a while.
try tiny set -i 12 --save-every 1 --level fast --keep 0 \
    --ckpt f --slow 'fault:write-eio@20,write-eio@22:s' --json
result iterations <out
grep -c 'Input/output error' err | sed 's/[1-9][0-9]*/said/'
weir ckpt verify s | tail -n 1 | sed 's/good.*/good/'
# The step was to get there before the save ends, and does not.
try tiny set -i 4 --save-every 1 --level slow --keep 0 \
    --ckpt f2 --slow 'fault:write-eio@12:s2' --json
result iterations <out
# It is older than the fast tier remembers.
cp -a s backup
tiny set -i 14 --save-every 1 --keep 0 --ckpt f --slow s --resume >/dev/null 2>&1
rm -r s
mv backup s
try tiny set -i 16 --save-every 1 --keep 0 --ckpt f --slow s --resume --json
result iterations <out
grep -c 'restored from a backup' err | sed 's/[1-9][0-9]*/said/'
