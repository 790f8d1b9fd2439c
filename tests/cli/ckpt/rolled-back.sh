# A slow tier that was restored from a backup is told by whatever looks at it.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save_steps 1
cp -a slow backup
save_steps 2
weir ckpt ls fast slow 2>&1 | grep -c backup || :
rm -r slow
mv backup slow
for action in ls verify drain; do
    weir ckpt $action fast slow 2>&1 | grep -o 'was it restored from a backup'
done
weir ckpt ls fast slow --json 2>/dev/null | grep -c '"step"'
