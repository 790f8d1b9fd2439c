# An existing file is read, and stays as it is.
mkdir place
head -c 20000000 /dev/urandom >old
cksum old >before
weir probe place --file old --only seq,random --quick --passes 1 \
    --seconds 0.02 --file-size 16MiB -o run.json | grep '^Files'
cksum old | cmp - before
grep -q '"file": "old"' run.json
grep -q '"file_bytes": 20000000' run.json
[ -z "$(ls -A place)" ]
