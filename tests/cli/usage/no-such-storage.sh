# A URL of a storage that is not there is no missing file.
mkdir set
try() {
    weir "$@" 2>err && echo "was taken: $*"
    echo "$? $(head -n 1 err)"
}
try bench s3://b/x
try inspect emu:hdd:https://b/x
try ckpt ls s3://b/x
try probe s3://b
try inspect ./s3://b/x
