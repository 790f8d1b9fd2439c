# What is fitted to an emulated device is near it. The machine may be busy, and
# what the emulation adds is in it: only the order of magnitude is looked at,
# and what disturbs all of some runs is no fault of the fit.
mkdir place
cat >check.py <<'END'
p = {}
for line in open('fit.profile'):
    key, _, value = line.partition(' = ')
    p.setdefault(key.strip(), value.split())
def near(key, low, high):
    value = float(p[key][0])
    assert low <= value <= high, (key, value)
near('read_bandwidth', 40, 180)     # 163 MB/s
near('seek', 4, 34) if p['seek'][1] == 'ms' else near('seek', 4000, 34000)
near('channels', 1, 1)
near('sync_latency', 9, 90) if p['sync_latency'][1] == 'ms' \
    else near('sync_latency', 9000, 90000)
END
tries=0
until [ "$tries" -gt 0 ] && python3 check.py 2>why; do
    tries=$((tries + 1))
    [ "$tries" -le 10 ] || { cat why >&2; exit 1; }
    weir probe emu:hdd:place --quick --only seq,random,sync --access direct \
        --passes 1 --seconds 0.2 --file-size 64MiB --fit fit.profile -o run.json \
        >/dev/null
    [ -z "$(ls -A place)" ]
done
grep -q '"device_profile": "hdd"' run.json
weir probe emu:./fit.profile:place --only sync --passes 1 --seconds 0.02 -q \
    >/dev/null
