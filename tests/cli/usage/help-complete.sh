# Every command has a one-line summary, a description and (but for those about
# weir itself) an example.
weir --help | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p' >commands
[ "$(wc -l <commands)" -ge 3 ]
while read -r cmd; do
    weir "$cmd" --help >text
    grep -q "^weir $cmd - ." text
    grep -q "^Usage: weir $cmd" text
    grep -q '^Examples:' text || { echo "$cmd: no examples" >&2; exit 1; }
    if grep -nE '.{80,}' text; then echo "$cmd: wide line" >&2; exit 1; fi
done <commands
