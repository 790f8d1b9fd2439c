# --like a folder that is no data set.
mkdir place empty
weir probe place --quick --like empty
