# 'weir help X', 'weir X --help' and 'weir X -h' agree, also after arguments
# that would be wrong.
weir help cache >a
weir cache --help >b
weir cache -h >c
cmp a b
cmp a c
