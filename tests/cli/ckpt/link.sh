# A link or a file in the place of a step is told, not followed, not removed.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save_steps 1 2
mv slow/step-000000000002 elsewhere
ln -s ../elsewhere slow/step-000000000002
: >slow/step-000000000003
weir ckpt ls slow --json | grep -c damaged
weir ckpt ls slow >/dev/null
weir ckpt restore slow --into out
weir ckpt prune slow --after 1
[ -L slow/step-000000000002 ] && [ -f slow/step-000000000003 ]
[ -f elsewhere/MANIFEST ]
