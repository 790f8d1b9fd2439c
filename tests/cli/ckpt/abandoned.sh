# A run that went back leaves steps behind: they are named, take no place among
# the last ones, and as many of them stay as --keep-abandoned says (one).
# shellcheck disable=SC1091
. "$(dirname "$0")/make.inc"
save() { # STEP KEEP
    make_file in.safetensors "state of step $1"
    weir ckpt save only --from in.safetensors --step "$1" --keep "$2" >/dev/null
}
for s in 10 20 30 40; do
    save "$s" 0
done
save 15 0
weir ckpt ls only | sed 's/  2[0-9-]* [0-9:]*/  TIME/'
weir ckpt restore only --into out
save 16 0
weir ckpt prune only --keep 2 --keep-abandoned 2
(cd only && ls -d step-*)
weir ckpt prune only --keep 2
(cd only && ls -d step-*)
# Whoever drains beside a trainer applies the retention: of 30 and 40, which were
# left, both stay.
put() { # STEP FAST LEVEL
    make_file in.safetensors "state of step $1"
    weir ckpt save "$2" slow --from in.safetensors --step "$1" --level "$3" \
        --keep 0 >/dev/null
}
put 10 fast verified
put 30 fast verified
put 40 fast verified
put 15 fast fast
put 16 fast fast
weir ckpt drain fast slow --keep 2 --keep-abandoned 5 >/dev/null
(cd slow && ls -d step-*)
