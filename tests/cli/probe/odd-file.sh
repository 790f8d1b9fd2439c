# What is no regular file is refused, and is not waited for.
mkdir place
mkfifo pipe
: >empty
for file in pipe /dev/zero; do
    code=0
    timeout 20 weir probe place --file $file --quick --only random >out 2>err ||
        code=$?
    [ "$code" = 1 ]
    grep -q "'$file': is a \(pipe\|device\)" err
done
code=0
weir probe place --file empty --quick --only random >out 2>err || code=$?
[ "$code" = 1 ]
grep -q 'the file is too small' err
[ -z "$(ls -A place)" ]
