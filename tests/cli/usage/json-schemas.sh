# What each command prints with --json is what the tables of its values say
# (weir __schema results), or docs/formats/results.schema.json; every schema is tried.
check=$(dirname "$0")/../schema.py
python3 -c 'import jsonschema' 2>/dev/null || { echo "no python3-jsonschema" >&2; exit 77; }
# shellcheck disable=SC1091
. "$(dirname "$0")/../ckpt/make.inc"
weir __schema results >schemas

# try NAME COMMAND...: exit codes other than 0 are the command's own affair
try() {
    name=$1
    shift
    echo "$name" >>tried
    weir "$@" --json >out 2>err || :
    command=$*
    set --
    if grep -q "\"$name\": {" schemas; then set -- schemas; fi
    python3 "$check" "$name" "$@" <out || { echo "weir $command"; cat out err; }
}

try gen gen caltech101 set --samples 12 --classes 3
try gen gen tensors raw --samples 3 --shape 4x4x3
try gen-workload gen default made dataset.num_files_train=2
try inspect-made inspect made --verify
echo 'no picture' >set/class_0000/bad.jpg
: >set/class_0000/other.xyz
try inspect inspect set --verify --list-classes --no-index-cache
try inspect inspect raw --no-index-cache
try convert convert set tensors --to tensor --size 8
try convert convert set tars --to tar
mkdir fast-tier place
try stage stage set fast-tier:10MiB
try cache cache status set
try cache cache drop set
try mount-list mount --list
try doctor doctor . nothing
try probe-plan probe place --dry-run --quick
try study-plan study place --dry-run --quick
make_file in.safetensors hello
try ckpt-save ckpt save fast slow --from in.safetensors --step 1
try ckpt-save ckpt save fast slow --from in.safetensors --step 2 --level fast
try ckpt-drain ckpt drain fast slow
try ckpt-pin ckpt pin fast slow --step 1
try ckpt-ls ckpt ls fast slow
try ckpt-ls ckpt ls slow
try ckpt-id ckpt id fast slow
weir ckpt save fast slow --from in.safetensors --step 4 --level fast >/dev/null
weir ckpt save other slow --from in.safetensors --step 3 >/dev/null
try ckpt-ls ckpt ls fast slow
try ckpt-stale ckpt adopt fast slow --dry-run
try ckpt-stale ckpt adopt fast slow --step 4
try ckpt-stale ckpt discard fast slow
weir ckpt unpin fast slow --step 4 >/dev/null
try ckpt-rm ckpt rm fast slow --step 4
try ckpt-show ckpt show fast slow
try ckpt-show-file ckpt show in.safetensors
try ckpt-verify ckpt verify fast slow
try ckpt-verify-file ckpt verify in.safetensors
try ckpt-verify-file ckpt verify set/class_0000/bad.jpg
try ckpt-restore ckpt restore fast slow --into out-of-it
try ckpt-pin ckpt unpin fast slow --step 1
for shard in slow/step-*1/*.safetensors; do
    printf 'X' | dd of="$shard" bs=1 seek=4096 conv=notrunc 2>/dev/null
done
try ckpt-verify ckpt verify slow
try ckpt-prune ckpt prune fast slow --keep 1 --spare --dry-run
weir bench set -r 2 --batches 1 --no-limits --size 8 -o run.json >/dev/null 2>&1
try report report run.json
try report report run.json run.json
python3 - "$(dirname "$0")/../../../docs/formats/results.schema.json" schemas <<'END'
import json, sys
names = {name for path in sys.argv[1:] for name in json.load(open(path))['$defs']}
print(*sorted(names ^ set(open('tried').read().split())), sep='\n', end='')
END
# A result with one value more does not fit.
weir ckpt id fast slow --json | sed 's/{/{"more": 1,/' >changed
! python3 "$check" ckpt-id schemas <changed >out
