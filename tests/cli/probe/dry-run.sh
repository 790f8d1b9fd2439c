# It says what would be done, and does nothing.
mkdir place
weir probe place --dry-run --file-size 64M --files 10 --only random,mix -d 1,8 --block 4K
[ -z "$(ls -A place)" ]
