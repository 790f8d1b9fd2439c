# Run records, made up and measured, are what the tables of their values say
# (weir __schema); every schema is tried.
check=$(dirname "$0")/../schema.py
make=$(dirname "$0")/../../data/records/make.py
python3 -c 'import jsonschema' 2>/dev/null || { echo "no python3-jsonschema" >&2; exit 77; }
# shellcheck disable=SC1091
. "$(dirname "$0")/../run/make.inc"
weir __schema >schemas

# try COMMAND NAME: the record on stdin
try() {
    echo "$1" >>tried
    python3 "$check" "$1" schemas || echo "$2"
}

for kind in 'bench' 'bench --runs 2 --vary --ranks 3' 'bench --no-monitor' ckpt probe \
    replay run run-search run-slow plan-explain trace; do
    # shellcheck disable=SC2086 # a list of words
    python3 "$make" $kind | try "$(echo "$kind" | sed 's/[ -].*//')" "$kind"
done
weir gen imagenet set -n 24 --quiet >out
weir bench set -r 2 --batch 8 --digest --quiet --json | try bench 'of pictures'
weir gen tensors raw --samples 16 --shape 4x4x3 --quiet >out
weir bench raw -r 2 --batch 4 --epochs 2 --threads auto --cache ram:1MiB --quiet \
    --json | try bench 'of tensors'
mkdir fast slow
weir ckpt bench fast slow --state small --moments 0 --saves 2 --quiet --json | try ckpt 'of checkpoints'
make_set
kit --json --digest | try run 'of a workload'
weir run kit.yaml data --monitor 0 --search accelerators --search-max 2 --json |
    try run 'of a search'
mkdir probed
weir probe probed --quick --seconds 0.02 --quiet --json | try probe 'of storage'
weir gen caltech101 pictures --samples 12 --classes 2 --quiet >out
for how in '-i 2 --ckpt saved' '--epochs 1 --holdout 0.5' '-i 2 --compare -r 2 --monitor 0' \
    '-i 2 --accelerator ms=1 --synthetic'; do
    # shellcheck disable=SC2086 # a list of words
    weir train pictures --engine reference --size 67 --width 0.0625 -b 4 --quiet --json \
        $how | try train "of training $how"
done
weir plan --model resnet50 --accelerator V100-fp16 -g 8 --storage nvme --cores 64 \
    --save burst --save-every 50 --fast-device nvme --mtbf 5000 --try-nodes 1,2 --life 2 --steps 200 --json |
    try plan 'of a plan'
weir study studied --images 4 -r 2 --only fig5 -t 1 --quiet >out
try study 'of a study' <studied/study.json
python3 - <<'END'
import json
names = set(json.load(open('schemas'))['$defs'])
print(*sorted(names ^ set(open('tried').read().split())), sep='\n', end='')
END
# docs/formats/record.md names every key.
python3 - "$(dirname "$0")/../../../docs/formats/record.md" <<'END'
import json, re, sys

def keys(of):
    for key, value in of.get('properties', {}).items():
        yield key
        yield from keys(value)
        yield from keys(value.get('items', {}))

named = set(re.findall(r'`(\w+)`', open(sys.argv[1]).read()))
for command, schema in json.load(open('schemas'))['$defs'].items():
    print(*sorted(set(keys(schema)) - named), sep='\n', end='')
END
# A record without one of its values, or with one more, does not fit.
python3 "$make" bench | sed 's/"gap_p99_ms"/"gap_p98_ms"/' >other
! python3 "$check" bench schemas <other >out
