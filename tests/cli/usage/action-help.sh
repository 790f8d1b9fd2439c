# Each action of a command explains itself, by --help and by 'weir help'; its
# text names the options that it takes and no others.
for command in ckpt cache; do
    weir "$command" --help | sed -n '/^Arguments:/,/^[A-Z]/p' |
        sed -n 's/^        \([a-z][a-z]*\)  .*/\1/p' >actions
    test -s actions
    while read -r action; do
        weir "$command" "$action" --help >text
        weir help "$command" "$action" >other
        cmp text other
        for part in "^weir $command $action - ." "^Usage: weir $command $action" \
            '^Arguments:' '^Options:' '^Examples:' '^Exit status:' '  --json  '; do
            grep -q -- "$part" text || echo "$command $action: no '$part'"
        done
        if grep -nE '.{80,}' text; then echo "$command $action: wide line"; fi
    done <actions
done
weir ckpt drain --help | grep -- '-w, --watch'
weir ckpt drain --help | grep -- ' --from' || echo "drain has no --from"
weir ckpt ls --keep 3 2>&1 | tail -n 1
weir ckpt frob --help | head -n 1
