# A small probe: every table, the cache, the closing words; nothing stays.
mkdir place
weir probe place --quick --passes 2 --seconds 0.02 --file-size 16MiB --files 30
[ -z "$(ls -A place)" ]
