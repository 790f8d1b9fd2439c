# The plan: nothing is made.
weir study s --quick --dry-run
[ ! -e s ]
