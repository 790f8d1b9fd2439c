# What cannot be read is not damaged, and no older step is taken for it.
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save_steps 1 2
weir ckpt verify "fault:eacces@~000000000002/r0:slow" && exit 9
weir ckpt restore "fault:eacces@~000000000002/r0:slow" --into out && exit 9
[ ! -e out ]
weir ckpt restore "fault:eacces@~000000000002/r0:slow" --step 1 --into out
weir ckpt ls "fault:open-eio@~000000000002/MANIFEST:slow" --json | grep unreadable
weir ckpt ls "fault:open-eio@~000000000002/MANIFEST:slow" >/dev/null
