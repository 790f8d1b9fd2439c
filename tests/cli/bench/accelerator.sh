# An emulated accelerator: named with its source once, kept in the record, and
# what --consumer-ms was.
weir gen caltech101 set --samples 32 --classes 4 --quiet >/dev/null
weir bench set -r 2 -b 16 --no-limits --accelerator k80 -o k80.json >out
grep -q '^accelerator K80 (emulated), 24.39 ms per batch of 16$' out
[ "$(grep -c '656 images/s at batch 512' out)" = 1 ]
grep -q '"name": "K80"' k80.json
grep -q '"consumer_ms": 24.39' k80.json
grep -q '"step_ms": 24.39' k80.json
grep -q '"source": "AlexNet: 656 images/s' k80.json
# Several batch sizes: the law.
weir bench set -r 2 -b 8,16 --no-limits --accelerator P100 >out
grep -q '^accelerator P100 (emulated), 0.3348 ms per sample$' out
# The old name, which no help shows.
weir bench set -r 2 -b 16 --no-limits --consumer-ms 3 --json >old.json
grep -q '"name": "ms=3"' old.json
grep -q '"consumer_ms": 3.0' old.json
[ "$(weir bench --help | grep -c consumer-ms)" = 0 ]
# By default there is none, and nothing is said of it.
weir bench set -r 2 -b 16 --no-limits -o none.json >out
[ "$(grep -c accelerator out)" = 0 ]
grep -q '"name": "none"' none.json
grep -q '"consumer_ms": 0.0' none.json
weir report k80.json | grep -q 'Accelerator  *K80 (emulated)'
