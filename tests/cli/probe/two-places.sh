# A file that is read elsewhere: each place has its own word on O_DIRECT.
[ "$(id -u)" = 0 ] || { echo "mounting needs root" >&2; exit 77; }
mkdir memory disk
mount -t tmpfs -o size=200M tmpfs memory 2>/dev/null || {
    echo "tmpfs cannot be mounted" >&2
    exit 77
}
trap 'umount memory' EXIT
head -c 20000000 /dev/urandom >disk/old
cp disk/old memory/old
run() {
    weir probe "$1" --file "$2" --quick --only seq --passes 1 --seconds 0.02 \
        --file-size 16MiB --json >run.json
}
run disk disk/old
grep -q '"direct": true,$' run.json
if grep -q '"skipped"' run.json; then
    echo "no O_DIRECT on this disk" >&2
    exit 77
fi
cat >check.py <<'END'
import json, sys
for t in json.load(open('run.json'))['tests']:
    want = t['direct'] and t['op'] == sys.argv[1]
    assert ('skipped' in t) == want, t['name']
END
run disk memory/old
python3 check.py read
run memory disk/old
python3 check.py write
