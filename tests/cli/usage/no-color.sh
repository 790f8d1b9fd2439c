# Escape sequences only when asked for, or on a terminal.
escape=$(printf '\033')
weir help cache >plain
if grep -q "$escape" plain; then exit 1; fi
weir cache --help --color always >coloured
grep -q "$escape" coloured
