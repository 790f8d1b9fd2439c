# The sizes of a data set's samples: all of 3 KiB here, rounded up to 512 bytes.
mkdir place set set/a
for n in 1 2 3 4; do head -c 3000 /dev/zero >"set/a/$n.jpg"; done
weir probe place --like set --only mix,files --quick --passes 1 \
    --seconds 0.02 --file-size 16MiB --files 8 -o run.json >/dev/null
python3 - <<'END'
import json
sizes = json.load(open('run.json'))['sizes']
assert sizes['name'].endswith('set'), sizes
assert sizes['parts'] == [{'bytes': 3072, 'share': 1}], sizes
END
