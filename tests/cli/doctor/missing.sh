# From a path that is not there nothing can be fed.
weir doctor nothing | tail -n 7
weir doctor --strict nothing >/dev/null
