# It says what would be done, and does nothing.
mkdir place
weir probe place --dry-run --file-size 64MiB --files 10 --only random,mix -d 1,8 --block 4KiB
[ -z "$(ls -A place)" ]
