# Cells of other settings are refused by name; --fresh forgets them.
weir study s --images 8 -r 2 --only fig5 -t 1 --quiet >/dev/null
if weir study s --images 9 -r 2 --only fig5 -t 1 --quiet 2>err; then exit 1; fi
cat err
weir study s --images 9 -r 2 --only fig5 -t 1 --quiet --fresh | grep -c 'fig5 '
