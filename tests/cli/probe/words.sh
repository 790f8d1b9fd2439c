# The closing words have the numbers of the tables, and say nothing about what
# was not measured.
mkdir place
weir probe place --only sync --passes 5 --seconds 0.05 --json >/dev/null
weir probe place --only sync --passes 5 --seconds 0.05 >out
python3 - <<'END'
import re
text = open('out').read()
unit = {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9}
head = re.search(r'^ *syncs/s.*\n(.*)$', text, re.M)
cells = re.findall(r'([\d.]+)(ns|us|ms|s)\b', head[1])
said = re.search(r'A sync takes ([\d.]+) (\w+), one in a\s+hundred\s+longer\s+'
                 r'than\s+([\d.]+)\s+(\w+)', text)
table = [float(a) * unit[b] for a, b in (cells[0], cells[2])]
words = [float(said[1]) * unit[said[2]], float(said[3]) * unit[said[4]]]
for a, b in zip(table, words):
    assert abs(a - b) <= 0.06 * a, (table, words)
END
! grep -q '^Cache' out # nothing was read
weir probe place --only random --block 128KiB -d 1 --passes 1 --seconds 0.02 \
    --file-size 16MiB >out
grep -q '^Random reads' out
! grep -q 'Depth does not pay' out
