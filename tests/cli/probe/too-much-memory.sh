# Refused before the files are laid out.
mkdir place
code=0
weir probe 'fault:write-enospc@1+:place' --only random --block 64MiB -d 512 \
    --file-size 128MiB >out 2>err || code=$?
[ "$code" = 1 ]
grep -q 'take more than 4 GiB of memory' err
[ -z "$(ls -A place)" ]
