# Reading stops soon after the tiers are full.
weir gen tensors set -n 6000 --size 16x16 -q >/dev/null 2>&1 ||
    weir gen tensors set -n 6000 -q >/dev/null
mkdir fast
weir stage set fast:1MiB --json -q >out.json
read=$(sed -n 's/.*"bytes_read": \([0-9]*\).*/\1/p' out.json)
all=$(weir inspect set --json | sed -n 's/.*"total": \([0-9]*\).*/\1/p')
[ "$((read * 2))" -lt "$all" ]
