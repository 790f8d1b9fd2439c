# A parent that is not there is named.
weir gen caltech101 none/d -n 2
